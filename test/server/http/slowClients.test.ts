// The real server against clients that take their time.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startServer } from '../../../src/server/server.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { startRawServer } from '../../support/rawServer.js'
import { serverConfig } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DRIBBLE_MS = 250

async function start(env: Record<string, string>) {
  const anyOne = { MAX_CONNECTIONS_PER_CLIENT: '10000', MAX_UNDER_WAY_PER_CLIENT: '10000' }
  const config = serverConfig({ DATA_DIR: await temporaryDirectory(), ...anyOne, ...env })
  const server = await startServer(config, createLogLines().logger)
  onTestFinished(() => server.stop())
  return { port: server.port, url: `http://127.0.0.1:${server.port}` }
}

/** A node that answers nothing. */
function hangingUrl(): Promise<string> {
  return startRawServer(() => undefined)
}

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

type Client = Awaited<ReturnType<typeof open>>

/** A byte now and then, so that the connection is never idle. */
function dribble(socket: Socket, start: string): void {
  socket.write(start)
  const timer = setInterval(() => {
    if (socket.writable) socket.write('x')
  }, DRIBBLE_MS)
  onTestFinished(() => clearInterval(timer))
}

const POST = 'POST /orders HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'

const SLOW = {
  'headers that never end': (socket: Socket) =>
    dribble(socket, 'GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: '),
  'a body that never ends': (socket: Socket) => dribble(socket, `${POST}Content-Length: 60000\r\n\r\n`),
  'no byte at all': () => undefined,
  'a rest after an answer': (socket: Socket) => socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n'),
}

describe('slow clients', () => {
  // Node has defaults for all three, of which one or another would end these connections, too.
  test.each<[string, keyof typeof SLOW, Record<string, string>]>([
    ['HEADERS_TIMEOUT', 'headers that never end', { HEADERS_TIMEOUT: '1s', REQUEST_TIMEOUT: '1h' }],
    ['HEADERS_TIMEOUT', 'no byte at all', { HEADERS_TIMEOUT: '1s', REQUEST_TIMEOUT: '1h' }],
    ['REQUEST_TIMEOUT', 'a body that never ends', { HEADERS_TIMEOUT: '1s', REQUEST_TIMEOUT: '1500ms' }],
    ['KEEP_ALIVE_TIMEOUT', 'a rest after an answer', { KEEP_ALIVE_TIMEOUT: '2s' }],
  ])('are hung up on by %s alone (%s)', async (_name, kind, env) => {
    const { port } = await start({ KEEP_ALIVE_TIMEOUT: '1h', ...env })
    const { socket, received, isEnded } = await open(port)
    SLOW[kind](socket)
    await eventually('the end of the connection', isEnded, 20_000)
    // Node says of a connection that is kept how long it may rest.
    expect(received()).toContain(
      kind === 'a rest after an answer' ? 'Keep-Alive: timeout=2\r\n' : 'request-timeout',
    )
  })

  test('are hung up on when they do not read their answers', async () => {
    const { port } = await start({ ANSWER_TIMEOUT: '1s', KEEP_ALIVE_TIMEOUT: '1h' })
    // More than the system keeps for a reader.
    const requests = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50)
    const clients = await Promise.all(Array.from({ length: 20 }, () => open(port)))
    for (const { socket } of clients) {
      socket.pause()
      // A client that does not read notices the end when it writes.
      dribble(socket, requests)
    }
    await eventually('the end of all connections', () => clients.every(({ isEnded }) => isEnded()))
  }, 60_000)

  test('are not hung up on while they wait for their answer', async () => {
    const { url } = await start({ ANSWER_TIMEOUT: '100ms', RPC_URL: await hangingUrl(), RPC_TIMEOUT: '1s' })
    expect((await fetch(`${url}/enclave-key`)).status).toBe(503)
  })

  test('above MAX_CONNECTIONS are closed at once, and leave room when they go', async () => {
    const { port, url } = await start({
      MAX_CONNECTIONS: '100',
      HEADERS_TIMEOUT: '1h',
      REQUEST_TIMEOUT: '1h',
    })
    const held = await Promise.all(Array.from({ length: 500 }, () => open(port)))
    await eventually('the surplus to be closed', () => held.filter(({ isEnded }) => isEnded()).length === 400)
    await expect(fetch(`${url}/health`)).rejects.toThrow()
    for (const { socket } of held) socket.destroy()
    const served = await eventually('room', () => fetch(`${url}/health`).catch(() => undefined))
    expect(served.status).toBe(200)
  })

  test('above MAX_CONNECTIONS_PER_CLIENT get 429, or are closed beyond a tenth of all; others are served', async () => {
    const [address, count] = ['127.0.0.2', 25]
    const { port, url } = await start({
      MAX_CONNECTIONS: '100',
      MAX_CONNECTIONS_PER_CLIENT: '5',
      HEADERS_TIMEOUT: '1h',
      REQUEST_TIMEOUT: '1h',
    })
    const openFrom = (from: string) => open(port, from)
    const held: Client[] = []
    for (let n = 0; n < count; n++) held.push(await openFrom(address))
    const [within, told, closed] = [held.slice(0, 5), held.slice(5, 15), held.slice(15)]
    await eventually('those beyond all room to be closed', () => closed.every(({ isEnded }) => isEnded()))
    for (const { socket } of [...within, ...told])
      socket.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n')
    await eventually('an answer on each', () =>
      [...within, ...told].every(({ received }) => received() !== ''),
    )
    for (const { received } of within) expect(received()).toMatch(/^HTTP\/1.1 200 /)
    for (const { received, isEnded } of told) {
      expect(received()).toMatch(/^HTTP\/1.1 429 /)
      expect(received()).toMatch(/Retry-After: \d/i)
      await eventually('its end', isEnded)
      expect(received()).toContain('"too-many-at-once"')
    }
    expect((await fetch(`${url}/health`)).status).toBe(200)
    within[0]?.socket.destroy()
    await eventually('room', async () => {
      const { isEnded, socket, received } = await openFrom(address)
      socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
      await eventually('an answer, or the end', () => isEnded() || received() !== '')
      return received().startsWith('HTTP/1.1 200')
    })
  })

  test('come through a trusted proxy as many as there may be in all', async () => {
    const { port } = await start({ MAX_CONNECTIONS_PER_CLIENT: '1', TRUST_PROXY: '1' })
    const held = await Promise.all(Array.from({ length: 20 }, () => open(port)))
    for (const { socket } of held) socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
    await eventually('an answer on each', () =>
      held.every(({ received }) => received().startsWith('HTTP/1.1 200')),
    )
  })
})
