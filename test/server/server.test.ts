import { once } from 'node:events'
import { connect } from 'node:net'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { lockDirectory } from '../../src/service/directoryLock.js'
import { bareServer } from '../support/bareServer.js'
import { buildApp } from '../support/builtApp.js'
import { handled } from '../support/handled.js'
import { readinessOf } from '../support/ops.js'
import { startRawServer } from '../support/rawServer.js'

test('a probe of a server that is starting gets 503 at /readyz, and 200 at /livez and /health', async () => {
  const { app, ops } = await buildApp({ phase: 'starting' })
  const ready = await request(ops).get('/readyz')
  expect([ready.status, ready.headers['retry-after']]).toEqual([503, '5'])
  expect(ready.body).toMatchObject({
    status: 'unhealthy',
    checks: { server: { status: 'unhealthy', reason: 'starting' } },
  })
  expect((await request(ops).get('/livez')).status).toBe(200)
  expect((await request(app).get('/health')).status).toBe(200)
})

describe('stop', () => {
  /** A node that answers only when told, so that a request is under way for as long as the test wants. */
  async function slowNode() {
    const told = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const usdc = `0x${'00'.repeat(12)}${'77'.repeat(20)}`
    const rpc = await startRawServer(async (req, res) => {
      let text = ''
      for await (const part of req) text += part
      const calls: { id: number; method: string; params: { to?: string }[] }[] = JSON.parse(text)
      if (calls[0]?.method === 'eth_chainId') return res.end(JSON.stringify([{ id: 0, result: '0x7a69' }]))
      const isEscrow = calls.some(({ params }) => params[0]?.to?.toLowerCase() === `0x${'22'.repeat(20)}`)
      if (isEscrow) reached.resolve()
      await told.promise
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify(calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: usdc }))))
    })
    return { rpc, reached: reached.promise, answer: told.resolve }
  }

  test('lets a request under way finish and takes no new one, alive and not ready, then frees the directory', async () => {
    const { rpc, reached, answer } = await slowNode()
    const { stop, url, opsUrl, dataDir } = await bareServer({ RPC_URL: rpc, SHUTDOWN_TIMEOUT: '1h' })
    const pending = handled(fetch(`${url}/enclave-key`))
    await reached
    const stopped = handled(stop())
    await expect(fetch(`${url}/health`)).rejects.toThrow()
    const { code, faults } = await readinessOf(opsUrl)
    expect([code, faults.server]).toEqual([503, 'stopping'])
    expect((await fetch(`${opsUrl}/livez`)).status).toBe(200)
    answer()
    const response = await pending
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ scheme: 'service-ecies-v1' })
    await stopped
    await expect(fetch(`${opsUrl}/livez`)).rejects.toThrow()
    lockDirectory(dataDir).release()
  })

  test('cuts off what takes longer than the limit', async () => {
    const { rpc, reached } = await slowNode()
    const { stop, url } = await bareServer({ RPC_URL: rpc, SHUTDOWN_TIMEOUT: '50ms' })
    const pending = expect(fetch(`${url}/enclave-key`)).rejects.toThrow()
    await reached
    await stop()
    await pending
  })

  test('closes idle kept-alive connections at once', async () => {
    const { stop, port } = await bareServer({ SHUTDOWN_TIMEOUT: '1h' })
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
    const closed = once(socket, 'close')
    await stop()
    await closed
  })
})
