import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { startBalancer } from '../../src/sandbox/balancer.js'
import { claimPorts } from '../../src/sandbox/ports.js'
import { startHttpServer } from '../support/httpServer.js'

type Handler = Parameters<typeof startHttpServer>[0]

const answering =
  (status: number, says: string): Handler =>
  (request, response) => {
    if (request.url === '/health') return void response.end()
    text(request).then((body) => {
      const from = String(request.headers['x-forwarded-for'])
      response.writeHead(status, { 'x-server': says }).end(`${request.method} ${request.url} ${body} ${from}`)
    })
  }

/** Answers nothing at all, as a process that is stopped. */
const hanging: Handler = () => undefined

async function balance(...handlers: readonly Handler[]) {
  const servers = await Promise.all(handlers.map((handler) => startHttpServer(handler)))
  const { server: port } = await claimPorts({ server: 0, rpc: 0, broker: 0 })
  const balancer = await startBalancer(
    port,
    servers.map(({ url }) => url),
  )
  onTestFinished(async () => {
    await balancer.stop()
    await Promise.all(servers.map((server) => server.stop().catch(() => undefined)))
  })
  const post = (init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}/orders?a=b`, { method: 'POST', body: 'an order', ...init })
  return { servers, post }
}

const tally = async (answers: readonly Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ headers }) => headers.get('x-server')).toSorted()

test('requests go to the servers in turn, whole, with the address of their client', async () => {
  const { post } = await balance(answering(200, 'one'), answering(200, 'two'))
  expect(await tally([post(), post(), post(), post()])).toEqual(['one', 'one', 'two', 'two'])
  const response = await post({ headers: { 'x-forwarded-for': '192.0.2.1' } })
  expect(await response.text()).toBe('POST /orders?a=b an order 192.0.2.1, 127.0.0.1')
})

test('a server that has ended or says 503 leaves the request to another one', async () => {
  const { servers, post } = await balance(
    answering(200, 'one'),
    answering(503, 'two'),
    answering(200, 'three'),
  )
  await servers[0]?.stop()
  expect(await tally([post(), post(), post()])).toEqual(['three', 'three', 'three'])
})

test('a request that waits at a server that hangs goes to another one', async () => {
  const { post } = await balance(hanging, answering(200, 'two'))
  expect(await tally([post(), post()])).toEqual(['two', 'two'])
})

test('where all say 503 the client hears it, and where none answers a 502', async () => {
  const { servers, post } = await balance(answering(503, 'one'), answering(503, 'two'))
  expect((await post()).status).toBe(503)
  await Promise.all(servers.map((server) => server.stop()))
  expect((await post()).status).toBe(502)
})
