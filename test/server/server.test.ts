import { once } from 'node:events'
import { connect } from 'node:net'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { buildServer } from '../../src/server/build.js'
import { type RunningServer, startServer } from '../../src/server/server.js'
import { openRelayerKeys } from '../../src/server/signer/signer.js'
import { lockDirectory } from '../../src/service/directoryLock.js'
import { useChain } from '../support/chain.js'
import { handled } from '../support/handled.js'
import { chainEnvironment } from '../support/intakeServer.js'
import { createLogLines } from '../support/logLines.js'
import { readinessOf } from '../support/ops.js'
import { startRawServer } from '../support/rawServer.js'
import { serverConfig } from '../support/serverEnvironment.js'
import { openStores } from '../support/stores.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

async function start(overrides: Record<string, string> = {}) {
  const dataDir = overrides.DATA_DIR ?? (await temporaryDirectory())
  const log = createLogLines()
  const server = await startServer(serverConfig({ DATA_DIR: dataDir, ...overrides }), log.logger)
  let stopped: Promise<void> | undefined
  const running: RunningServer = { ...server, stop: () => (stopped ??= server.stop()) }
  onTestFinished(() => running.stop())
  const at = (port: number) => `http://127.0.0.1:${port}`
  return { server: running, url: at(server.port), opsUrl: at(server.opsPort), dataDir, log }
}

describe('on a chain', () => {
  const chain = useChain(async ({ send }) => {
    await send('owner', 'token', 'setListed', nameToBytes32('AAPL'), true)
    await send('owner', 'token', 'setListed', nameToBytes32('MSFT'), true)
  })

  test('GET /enclave-key gives the key, the chain, the escrow and its USDC', async () => {
    const { url } = await start(chainEnvironment(chain()))
    const response = await fetch(`${url}/enclave-key`)
    expect(await response.json()).toEqual({
      publicKey: serverConfig().enclave.intentPublicKey,
      chainId: chain().anvil.chainId,
      escrow: chain().addresses.orderEscrow,
      scheme: 'service-ecies-v1',
      usdc: chain().addressOf('usdc'),
      takesOpenings: true,
    })
  })

  test('GET /health has the listed symbols once they were read', async () => {
    const { url } = await start(chainEnvironment(chain()))
    await expect
      .poll(async () => (await (await fetch(`${url}/health`)).json()).symbols, { timeout: 10_000 })
      .toEqual(['AAPL', 'MSFT'])
  })
})

test('a probe of a server that is starting gets 503 at /readyz, and 200 at /livez and /health', async () => {
  const config = serverConfig()
  const { engine } = await openStores(await temporaryDirectory())
  const { app, ops } = buildServer({
    ...{ config, engine, serverId: 'starting', logger: createLogLines().logger },
    relayerKeys: await openRelayerKeys(config.relay.relayerKeys),
    stopping: new AbortController().signal,
    phase: () => 'starting',
    output: { write: () => undefined },
  })
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
    let answer = () => {}
    const told = new Promise<void>((resolve) => {
      answer = resolve
    })
    let asked = () => {}
    const reached = new Promise<void>((resolve) => {
      asked = resolve
    })
    const usdc = `0x${'00'.repeat(12)}${'77'.repeat(20)}`
    const rpc = await startRawServer(async (req, res) => {
      let text = ''
      for await (const part of req) text += part
      const calls: { id: number; method: string; params: { to?: string }[] }[] = JSON.parse(text)
      if (calls[0]?.method === 'eth_chainId') return res.end(JSON.stringify([{ id: 0, result: '0x7a69' }]))
      const isEscrow = calls.some(({ params }) => params[0]?.to?.toLowerCase() === `0x${'22'.repeat(20)}`)
      if (isEscrow) asked()
      await told
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify(calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: usdc }))))
    })
    return { rpc, reached, answer: () => answer() }
  }

  test('lets a request under way finish, takes no new one, frees the directory', async () => {
    const { rpc, reached, answer } = await slowNode()
    const { server, url, dataDir } = await start({ RPC_URL: rpc, SHUTDOWN_TIMEOUT: '1h' })
    const pending = handled(fetch(`${url}/enclave-key`))
    await reached
    const stopped = handled(server.stop())
    await expect(fetch(`${url}/health`)).rejects.toThrow()
    answer()
    const response = await pending
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ scheme: 'service-ecies-v1' })
    await stopped
    lockDirectory(dataDir).release()
  })

  test('shows in the probes: alive, and not ready, until every part of it has stopped', async () => {
    const { rpc, reached, answer } = await slowNode()
    const { server, url, opsUrl } = await start({ RPC_URL: rpc, SHUTDOWN_TIMEOUT: '1h' })
    const pending = handled(fetch(`${url}/enclave-key`))
    await reached
    const stopped = handled(server.stop())
    const { code, faults } = await readinessOf(opsUrl)
    expect([code, faults.server]).toEqual([503, 'stopping'])
    expect((await fetch(`${opsUrl}/livez`)).status).toBe(200)
    answer()
    await pending
    await stopped
    await expect(fetch(`${opsUrl}/livez`)).rejects.toThrow()
  })

  test('cuts off what takes longer than the limit', async () => {
    const { rpc, reached } = await slowNode()
    const { server, url } = await start({ RPC_URL: rpc, SHUTDOWN_TIMEOUT: '50ms' })
    const pending = expect(fetch(`${url}/enclave-key`)).rejects.toThrow()
    await reached
    await server.stop()
    await pending
  })

  test('closes idle kept-alive connections at once', async () => {
    const { server } = await start({ SHUTDOWN_TIMEOUT: '1h' })
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
    const closed = once(socket, 'close')
    await server.stop()
    await closed
  })
})
