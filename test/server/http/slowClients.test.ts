// The real server against clients that take their time.
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { close, listen } from '../../../src/server/http/listener.js'
import { bareServer } from '../../support/bareServer.js'
import { eventually } from '../../support/eventually.js'
import { startRawServer } from '../../support/rawServer.js'
import { serverConfig } from '../../support/serverEnvironment.js'

const DRIBBLE_MS = 50
const HEALTH = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'

/** A connection that is never ended from here before the test is over. */
async function open(port: number, localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
  let received = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    received += part
  })
  // The server may hang up while a byte is on its way to it.
  socket.on('error', () => undefined)
  let isEnded = false
  for (const event of ['end', 'close'])
    socket.on(event, () => {
      isEnded = true
    })
  onTestFinished(() => {
    socket.destroy()
  })
  await once(socket, 'connect')
  return { socket, received: () => received, isEnded: () => isEnded }
}

test('Node bounds connections, and the time of headers, requests and rests, as configured', async () => {
  const { http } = serverConfig({ REQUEST_TIMEOUT: '33s', MAX_CONNECTIONS: '77' })
  const server = await listen(http, (_req, res) => res.end())
  onTestFinished(() => close(server, 0))
  expect(server).toMatchObject({
    ...{ headersTimeout: 11_000, requestTimeout: 33_000, keepAliveTimeout: 65_000, maxConnections: 77 },
  })
})

test('a client that does not read its answers is hung up on', async () => {
  const { port } = await bareServer({ ANSWER_TIMEOUT: '100ms' })
  const { socket, isEnded } = await open(port)
  socket.pause()
  // More than the system keeps for a reader.
  socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50))
  // A client that does not read notices the end when it writes.
  const timer = setInterval(() => socket.writable && socket.write('x'), DRIBBLE_MS)
  onTestFinished(() => clearInterval(timer))
  await eventually('the end of the connection', isEnded)
})

test('a client is not hung up on while it waits for its answer', async () => {
  const RPC_URL = await startRawServer(() => undefined)
  const { url } = await bareServer({ ANSWER_TIMEOUT: '50ms', RPC_URL, RPC_TIMEOUT: '300ms' })
  expect((await fetch(`${url}/enclave-key`)).status).toBe(503)
})

test('connections above MAX_CONNECTIONS_PER_CLIENT are closed; others are served, and room comes back', async () => {
  const { port, url } = await bareServer({ MAX_CONNECTIONS_PER_CLIENT: '5' })
  const held = await Promise.all(Array.from({ length: 25 }, () => open(port, '127.0.0.2')))
  await eventually('the surplus to be closed', () => held.filter(({ isEnded }) => isEnded()).length === 20)
  for (const { socket } of held) socket.write(HEALTH)
  await eventually('an answer on each of the others', () =>
    held.every(({ isEnded, received }) => isEnded() || received().startsWith('HTTP/1.1 200 ')),
  )
  expect((await fetch(`${url}/health`)).status).toBe(200)
  held.find(({ isEnded }) => !isEnded())?.socket.destroy()
  await eventually('room', async () => {
    const { isEnded, socket, received } = await open(port, '127.0.0.2')
    socket.write(HEALTH)
    await eventually('an answer, or the end', () => isEnded() || received() !== '')
    return received().startsWith('HTTP/1.1 200')
  })
})

test('a trusted proxy holds as many connections as there may be in all', async () => {
  const { port } = await bareServer({ MAX_CONNECTIONS_PER_CLIENT: '1', TRUST_PROXY: '1' })
  const held = await Promise.all(Array.from({ length: 20 }, () => open(port)))
  for (const { socket } of held) socket.write(HEALTH)
  await eventually('an answer on each', () =>
    held.every(({ received }) => received().startsWith('HTTP/1.1 200')),
  )
})
