import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createFollower } from '../../src/broker/follower.js'
import { BrokerError, type BrokerOrder } from '../../src/broker/index.js'

const START = Date.parse('2027-01-05T15:00:00Z')

beforeEach(() => {
  vi.useFakeTimers({ now: START })
})
afterEach(() => {
  vi.useRealTimers()
})

const order = (clientOrderId: string, more: Partial<BrokerOrder> = {}): BrokerOrder => ({
  ...{ id: `id-${clientOrderId}`, clientOrderId, symbol: 'AAPL', side: 'buy', notional: 5_000_000n },
  ...{ qty: null, limitPrice: null, status: 'new', state: 'live', createdAt: new Date(START) },
  ...{ filledQty: 0n, fills: [], endedAt: null },
  ...more,
})

/** A follower whose polls are noted with their time; `list` is what they find. */
function setUp({ isLive = true, isScarce = false, pollMs = 10 } = {}) {
  const list = new Map<string, BrokerOrder | null>()
  const polls: number[] = []
  const filters: unknown[] = []
  let failure: BrokerError | undefined
  const follower = createFollower({
    async poll(filter) {
      polls.push(Date.now() - START)
      filters.push(filter)
      const found = new Map(list)
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      if (failure) throw failure
      return { orders: found, since: new Date(0) }
    },
    isStreamLive: () => isLive,
    isScarce: () => isScarce,
    now: () => Date.now(),
  })
  return {
    ...follower,
    list,
    polls,
    filters,
    fail: (error?: BrokerError) => {
      failure = error
    },
  }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const UNAVAILABLE = new BrokerError('unavailable', { route: 'GET /v2/orders', status: 503 })

it.each([
  ['beside a stream, after four seconds', { isLive: true }, [4_000, 8_000]],
  ['without one, after half a second', { isLive: false }, [500, 1_000, 1_500, 2_000]],
  ['at the pace that the rate limit leaves', { isLive: false, isScarce: true }, [500, 3_500]],
])('a follower polls %s', async (_when, how, expected) => {
  const { follow, polls } = setUp(how)
  void follow(order('a'), 10_000)
  await pass(expected.at(-1) ?? 0)
  expect(polls).toEqual(expected)
})

it('a follower polls after an event, at once for a whole burst, and not while a poll is under way', async () => {
  const { follow, announce, polls } = setUp()
  for (const id of ['a', 'b', 'c']) void follow(order(id), 10_000)
  await pass(100)
  for (const id of ['a', 'b', 'c']) announce(id)
  await pass(30)
  expect(polls).toEqual([125])
  announce('a')
  await pass(500)
  expect(polls).toEqual([125, 525])
})

it.each([
  ['while its order is followed', false],
  ['before that', true],
])(
  'a follower takes a whole fill from the event that tells it %s, without a poll',
  async (_when, isEarly) => {
    const { follow, announce, polls } = setUp()
    const filled = order('a', { status: 'filled', state: 'filled', filledQty: 1n })
    if (isEarly) announce('a', filled)
    const seen = follow(order('a'), 10_000)
    announce('a', order('a', { status: 'partially_filled' }))
    announce('a', filled)
    await pass(3_000)
    expect([await seen, polls]).toEqual([filled, []])
  },
)

it.each([
  ['another end than a whole fill', { status: 'canceled', state: 'canceled' }],
  [
    'the fill of an order that the broker has under another id',
    { id: 'other', status: 'filled', state: 'filled' },
  ],
] as const)('a follower polls after an event that tells %s', async (_what, change) => {
  const { follow, announce, polls } = setUp()
  void follow(order('a'), 10_000)
  announce('a', order('a', change))
  await pass(30)
  expect(polls).toEqual([25])
})

it('a follower’s poll at the broker is the list from the oldest order on, of the symbols that matter', async () => {
  const { follow, filters } = setUp()
  void follow(order('new', { symbol: 'MSFT' }), 10_000)
  void follow(order('old', { createdAt: new Date(START - 60_000) }), 10_000)
  await pass(4_000)
  expect(filters).toEqual([{ after: new Date(START - 61_000), symbols: ['MSFT', 'AAPL'] }])
})

it.each([
  ['another status', { status: 'filled', state: 'filled' }],
  ['another quantity', { filledQty: 1n }],
  ['another id, where one carries on', { id: 'next' }],
] as const)('a follower answers with %s as a change', async (_what, change) => {
  const { follow, list } = setUp()
  list.set('a', order('a', change))
  const seen = follow(order('a'), 10_000)
  await pass(4_010)
  expect(await seen).toEqual(order('a', change))
})

it('a follower answers with a failure when the last poll failed, and not when one has succeeded since', async () => {
  const { follow, fail } = setUp()
  const [failing, recovered] = [follow(order('a'), 4_500), follow(order('b'), 9_000)]
  const failed = expect(failing).rejects.toBe(UNAVAILABLE)
  fail(UNAVAILABLE)
  await pass(4_500)
  await failed
  fail()
  await pass(4_500)
  expect((await recovered).clientOrderId).toBe('b')
})
