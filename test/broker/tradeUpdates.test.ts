import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createTradeUpdates } from '../../src/broker/tradeUpdates.js'
import { alpacaExample } from '../support/alpacaExamples.js'

const FILL = Object(alpacaExample('stream-fill'))

/** A connection that the test answers. */
class ScriptedSocket extends EventTarget {
  static readonly OPEN = WebSocket.OPEN
  static opened: ScriptedSocket[] = []
  /** What each connection answers to an action; nothing where it is undefined. */
  static answer: (action: string) => unknown = documented

  readonly readyState = WebSocket.OPEN
  readonly heard: { action: string }[] = []
  isClosed = false

  constructor() {
    super()
    ScriptedSocket.opened.push(this)
    queueMicrotask(() => this.dispatchEvent(new Event('open')))
  }

  send(text: string): void {
    const message = JSON.parse(text)
    this.heard.push(message)
    const answer = ScriptedSocket.answer(message.action)
    if (answer !== undefined) this.say(answer)
  }

  /** In a frame of bytes, as for a paper account. */
  say(message: unknown): void {
    this.hand(new TextEncoder().encode(JSON.stringify(message)).buffer)
  }

  hand(data: unknown): void {
    queueMicrotask(() => this.dispatchEvent(new MessageEvent('message', { data })))
  }

  close(): void {
    this.isClosed = true
    this.dispatchEvent(new Event('close'))
  }
}

function documented(action: string): unknown {
  return alpacaExample(action === 'auth' ? 'stream-authorized' : 'stream-listening')
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.stubGlobal('WebSocket', ScriptedSocket)
  ScriptedSocket.opened = []
  ScriptedSocket.answer = documented
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

async function listening() {
  const updates: (string | undefined)[] = []
  const told: unknown[] = []
  const client = createTradeUpdates({
    ...{ url: 'ws://broker/stream', keyId: 'key', secretKey: 'secret' },
    onUpdate(id, order) {
      updates.push(id)
      told.push(order)
    },
  })
  onTestFinished(client.close)
  client.start()
  await pass(0)
  const [first] = ScriptedSocket.opened
  if (first === undefined) throw new Error('no connection')
  return { client, first, updates, told }
}

it('the client of the stream authenticates and listens as documented, and then says to poll everything', async () => {
  const { first, updates, client } = await listening()
  expect(first.heard).toEqual([
    { ...Object(alpacaExample('stream-auth')), key: 'key', secret: 'secret' },
    alpacaExample('stream-listen'),
  ])
  expect([updates, client.isLive()]).toEqual([[undefined], true])
})

it('the client of the stream reads the order of a fill, in frames of bytes and of text', async () => {
  const { first, updates, told } = await listening()
  const id = FILL.data.order.client_order_id
  first.say(FILL)
  first.hand(JSON.stringify(FILL))
  await pass(0)
  expect(updates).toEqual([undefined, id, id])
  const fills = [{ qty: 1_790_860_000_000n, avgPrice: '105.8988475' }]
  const filled = { clientOrderId: id, id: FILL.data.order.id, state: 'filled', side: 'sell', fills }
  expect(told).toMatchObject([undefined, filled, filled])
  // One that cannot be read is polled.
  first.say({ ...FILL, data: { ...FILL.data, order: { ...FILL.data.order, filled_qty: null } } })
  await pass(0)
  expect([updates.at(-1), told.at(-1)]).toEqual([id, undefined])
  // An order that carries another one on is followed under that one's id.
  first.say({ ...FILL, data: { ...FILL.data, order: { ...FILL.data.order, replaces: 'another' } } })
  await pass(0)
  expect(updates.at(-1)).toBeUndefined()
})

it.each([
  ['refuses the keys', alpacaExample('stream-unauthorized')],
  ['does not have the stream', { stream: 'listening', data: { streams: [] } }],
  ['says nothing', undefined],
])('the client of the stream comes back more and more slowly to a server that %s', async (_what, answer) => {
  ScriptedSocket.answer = () => answer
  const { client } = await listening()
  await pass(20 * 60_000)
  expect(client.isLive()).toBe(false)
  // Half a minute apart in the end, and 15 s at the least.
  expect(ScriptedSocket.opened.length).toBeGreaterThan(10)
  expect(ScriptedSocket.opened.length).toBeLessThan(90)
})

it('the client of the stream connects again when it is cut off, or without a sign of life, and then says to poll everything', async () => {
  const { first, client, updates } = await listening()
  // A quiet market is not a dead connection.
  await pass(60_000)
  expect([first.heard.length > 4, client.isLive()]).toEqual([true, true])
  ScriptedSocket.answer = () => undefined
  await pass(15_000)
  expect([client.isLive(), first.isClosed]).toEqual([false, true])
  ScriptedSocket.answer = documented
  await pass(500)
  expect([client.isLive(), updates]).toEqual([true, [undefined, undefined]])
  ScriptedSocket.opened.at(-1)?.close()
  expect(client.isLive()).toBe(false)
  await pass(1_000)
  expect([client.isLive(), ScriptedSocket.opened.length]).toEqual([true, 3])
})
