import { once } from 'node:events'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { type WebSocket as Accepted, WebSocketServer } from 'ws'
import { createTradeUpdates, streamUrlOf } from '../../src/broker/tradeUpdates.js'
import { alpacaExample } from '../support/alpacaExamples.js'

afterEach(() => {
  vi.useRealTimers()
})

const AUTHORIZED = alpacaExample('stream-authorized')
const LISTENING = alpacaExample('stream-listening')
const FILL = Object(alpacaExample('stream-fill'))

interface Connection {
  readonly socket: Accepted
  readonly heard: { action: string }[]
}

/** A server of the test's own, and a client that listens to it. */
async function scripted(answer: (connection: Connection, action: string) => void) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const connections: Connection[] = []
  server.on('connection', (socket) => {
    const connection: Connection = { socket, heard: [] }
    connections.push(connection)
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString())
      connection.heard.push(message)
      answer(connection, message.action)
    })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  const updates: (string | undefined)[] = []
  const client = createTradeUpdates({
    url: `ws://127.0.0.1:${address.port}/stream`,
    keyId: 'key',
    secretKey: 'secret',
    onUpdate: (id) => updates.push(id),
  })
  onTestFinished(() => {
    client.close()
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  client.start()
  return { client, connections, updates }
}

const say = ({ socket }: Connection, message: unknown, binary = true) =>
  socket.send(Buffer.from(JSON.stringify(message)), { binary })

/** Answers as documented. */
function documented(connection: Connection, action: string): void {
  say(connection, action === 'auth' ? AUTHORIZED : LISTENING)
}

const connected = async (...args: Parameters<typeof scripted>) => {
  const stream = await scripted(...args)
  await vi.waitFor(() => expect(stream.client.isLive()).toBe(true))
  const [first] = stream.connections
  if (first === undefined) throw new Error('no connection')
  return { ...stream, first }
}

/** The client asks for a sign of life after 10 s, and waits 5 s for it. */
const MOST_SILENCE_MS = 15_000

/** Lets connections work while timers stand still until they are wanted. */
function steppedTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
}

it('the client of the stream authenticates and listens as documented, and then says to look at everything', async () => {
  const { first, updates } = await connected(documented)
  expect(first.heard).toEqual([
    { ...Object(alpacaExample('stream-auth')), key: 'key', secret: 'secret' },
    alpacaExample('stream-listen'),
  ])
  expect(updates).toEqual([undefined])
})

it.each([true, false])(
  "the client of the stream reads the documentation's fill (binary frames: %s) for its order's id alone",
  async (binary) => {
    const { first, updates } = await connected(documented)
    say(first, FILL, binary)
    await vi.waitFor(() => expect(updates).toEqual([undefined, FILL.data.order.client_order_id]))
  },
)

it('the client of the stream says nothing of events that fill or end no order, of other messages and of nonsense', async () => {
  const { first, updates, client } = await connected(documented)
  const event = (name: string) => ({ ...FILL, data: { ...FILL.data, event: name } })
  for (const name of ['new', 'accepted', 'pending_new', 'pending_cancel']) say(first, event(name))
  const endless = { ...FILL.data.order, client_order_id: 'x'.repeat(129) }
  say(first, { ...FILL, data: { ...FILL.data, order: endless } })
  for (const message of [null, [], {}, { stream: 'trade_updates' }, alpacaExample('stream-error')])
    say(first, message)
  first.socket.send('not json')
  first.socket.send(Buffer.from([0xff, 0xfe]))
  say(first, event('an event of tomorrow'))
  await vi.waitFor(() => expect(updates).toHaveLength(2))
  expect(client.isLive()).toBe(true)
})

it('the client of the stream looks at everything when the event is of an order that carries another one on', async () => {
  const { first, updates } = await connected(documented)
  say(first, { ...FILL, data: { ...FILL.data, order: { ...FILL.data.order, replaces: 'another' } } })
  await vi.waitFor(() => expect(updates).toEqual([undefined, undefined]))
})

it('the client of the stream connects again when it is cut off, and then says to look at everything', async () => {
  const { first, connections, updates, client } = await connected(documented)
  first.socket.terminate()
  await vi.waitFor(() => expect(client.isLive()).toBe(false))
  await vi.waitFor(() => expect(updates).toEqual([undefined, undefined]), 10_000)
  expect(connections).toHaveLength(2)
  expect(client.isLive()).toBe(true)
})

it.each([
  ['refuses the keys', alpacaExample('stream-unauthorized')],
  ['does not have the stream', { stream: 'listening', data: { streams: [] } }],
  ['says nothing', undefined],
])('the client of the stream comes back more and more slowly to a server that %s', async (_what, answer) => {
  steppedTimers()
  const { connections, client } = await scripted((connection) => {
    if (answer !== undefined) say(connection, answer)
  })
  // Twenty minutes, in steps that leave connections their time.
  for (let step = 0; step < 1_200; step++) {
    await vi.advanceTimersByTimeAsync(1_000)
    if (step % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(client.isLive()).toBe(false)
  expect(connections.length).toBeGreaterThan(10)
  // Half a minute apart in the end, and 15 s at the least.
  expect(connections.length).toBeLessThan(90)
})

it('the client of the stream notices silence: it asks for a sign of life, and connects again without one', async () => {
  steppedTimers()
  let isSilent = false
  const { first, connections, client } = await connected((connection, action) => {
    if (!isSilent) documented(connection, action)
  })
  // A quiet market is not a dead connection.
  for (let second = 0; second < 60; second++) {
    await vi.advanceTimersByTimeAsync(1_000)
    await vi.waitFor(() => expect(client.isLive()).toBe(true))
  }
  expect(first.heard.length).toBeGreaterThan(4)
  isSilent = true
  await vi.advanceTimersByTimeAsync(MOST_SILENCE_MS)
  // An answer that was still under way has the silence begin later.
  await vi.waitFor(() => expect(client.isLive()).toBe(false), { timeout: 20_000 })
  isSilent = false
  await vi.waitFor(() => expect(client.isLive()).toBe(true))
  expect(connections).toHaveLength(2)
})

it('the client of the stream is silent once it is closed', async () => {
  const { client, first, updates } = await connected(documented)
  client.close()
  say(first, FILL)
  await once(first.socket, 'close')
  expect(client.isLive()).toBe(false)
  expect(updates).toEqual([undefined])
})

it.each([
  ['https://paper-api.alpaca.markets', 'wss://paper-api.alpaca.markets/stream'],
  ['https://api.alpaca.markets/', 'wss://api.alpaca.markets/stream'],
  ['http://127.0.0.1:8100', 'ws://127.0.0.1:8100/stream'],
])('the client of the stream belongs to the trading API: %s', (url, stream) => {
  expect(streamUrlOf(url)).toBe(stream)
})
