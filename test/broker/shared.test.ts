import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { isPossibleDuplicate, type OrderRequest, type SharedBroker } from '../../src/broker/index.js'
import type { BrokerStandIn } from '../../src/simulator/index.js'
import { sharedBrokerOf, startStandIn, usd } from '../support/brokerStandIn.js'
import { eventually } from '../support/eventually.js'
import { startRawServer } from '../support/rawServer.js'

const HOUR = 3_600_000
const ANY = { orderId: 'a', openedAt: 1, withinMs: 5_000 }
const HOOKS = { beforeSend: () => undefined }

/** The stand-in's time is not ours. */
const AHEAD = 40 * HOUR
const standInNow = () => new Date(Date.now() + AHEAD)

let standIn: BrokerStandIn
let broker: SharedBroker
const opened: SharedBroker[] = []
beforeEach(async () => {
  standIn = await startStandIn({ now: standInNow })
  broker = sharedOf(standIn.url)
})
afterEach(async () => {
  vi.useRealTimers()
  for (const each of opened.splice(0)) each.close()
  await standIn.stop()
})

function sharedOf(...args: Parameters<typeof sharedBrokerOf>): SharedBroker {
  const shared = sharedBrokerOf(...args)
  opened.push(shared)
  return shared
}

const buying = (clientOrderId: string, symbol = 'AAPL') =>
  ({ symbol, side: 'buy', notional: usd(10), clientOrderId }) as const

/** Time passes for both clocks, and timers stay real. */
function steppedClocks() {
  // The broker names openings to the second.
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Math.floor(Date.now() / 1_000) * 1_000 })
  return (ms: number) => vi.advanceTimersByTime(ms)
}

const asked = (start: string) => standIn.control.requests().filter(({ url }) => url.startsWith(start))

async function place(clientOrderId: string, symbol?: string) {
  const placement = await broker.reserve(ANY)
  if (!placement) throw new Error('no placement')
  return placement.send(buying(clientOrderId, symbol), HOOKS)
}

it("the market clock is known until its next transition by the broker's own time, and goes on with the time", async () => {
  const pass = steppedClocks()
  const at = (ms: number) => new Date(standInNow().getTime() + ms).toISOString()
  standIn.control.clock({ open: false, nextOpen: at(9_000), nextClose: at(HOUR) })
  const [first, together] = await Promise.all([broker.getClock(), broker.getClock()])
  expect(first.isOpen).toBe(false)
  expect(together).toEqual(first)
  pass(8_000)
  expect((await broker.getClock()).timestamp.getTime()).toBe(first.timestamp.getTime() + 8_000)
  expect(asked('/v2/clock')).toHaveLength(1)
  standIn.control.clock({ open: true, nextClose: at(20_000) })
  pass(1_000)
  expect((await broker.getClock()).isOpen).toBe(true)
  expect(asked('/v2/clock')).toHaveLength(2)
  // An early close.
  pass(18_999)
  await broker.getClock()
  expect(asked('/v2/clock')).toHaveLength(2)
  pass(1)
  await broker.getClock()
  expect(asked('/v2/clock')).toHaveLength(3)
})

it('the market clock shows an unscheduled close after a minute, also where the machine slept, and an opening after ten seconds', async () => {
  const pass = steppedClocks()
  expect((await broker.getClock()).isOpen).toBe(true)
  standIn.control.clock({ open: false })
  pass(59_999)
  expect((await broker.getClock()).isOpen).toBe(true)
  pass(1)
  expect((await broker.getClock()).isOpen).toBe(false)
  standIn.control.clock({ open: true })
  pass(9_999)
  expect((await broker.getClock()).isOpen).toBe(false)
  pass(1)
  expect((await broker.getClock()).isOpen).toBe(true)
  standIn.control.clock({ open: false })
  // The monotonic clock stands still.
  vi.setSystemTime(Date.now() + 60_000)
  expect((await broker.getClock()).isOpen).toBe(false)
})

it('an asset is known for a quarter of an hour, for a minute where it cannot be bought, and until the broker refuses an order of it', async () => {
  const pass = steppedClocks()
  const both = () => Promise.all([broker.getAsset('AAPL'), broker.getAsset('NONE'), broker.getAsset('AAPL')])
  const counts = () => ['AAPL', 'NONE'].map((symbol) => asked(`/v2/assets/${symbol}`).length)
  expect((await both()).map((asset) => asset?.symbol)).toEqual(['AAPL', undefined, 'AAPL'])
  pass(59_999)
  await both()
  expect(counts()).toEqual([1, 1])
  pass(1)
  await both()
  expect(counts()).toEqual([1, 2])
  pass(14 * 60_000)
  await both()
  expect(counts()).toEqual([2, 3])
  const body = { code: 42210000, message: 'asset AAPL is not tradable' }
  standIn.control.fault({ method: 'POST', respond: { status: 422, body } })
  await expect(place('refused')).rejects.toMatchObject({ kind: 'rejected' })
  await both()
  expect(counts()).toEqual([3, 3])
})

it('prices come from one call for all symbols, and from another after five seconds', async () => {
  const pass = steppedClocks()
  const found = await Promise.all([
    broker.getSnapshots(['AAPL']),
    broker.getSnapshots(['MSFT', 'AAPL']),
    broker.getSnapshots([]),
    broker.getSnapshots(['NONE']),
  ])
  expect(found.map((each) => [...each.keys()].sort())).toEqual([['AAPL'], ['AAPL', 'MSFT'], [], []])
  expect(
    asked('/v2/stocks/snapshots').map(({ url }) => new URL(url, 'http://x').searchParams.get('symbols')),
  ).toEqual(['AAPL,MSFT,NONE'])
  standIn.control.price({ symbol: 'AAPL', price: '150' })
  pass(4_999)
  expect((await broker.getSnapshots(['AAPL'])).get('AAPL')?.last).toBe(usd(200))
  pass(1)
  const again = await Promise.all([broker.getSnapshots(['AAPL']), broker.getSnapshots(['MSFT'])])
  expect(again[0].get('AAPL')?.last).toBe(usd(150))
  expect(asked('/v2/stocks/snapshots')).toHaveLength(2)
})

it('a placement is one request, and nothing after a 422', async () => {
  expect(await place('one')).toMatchObject({ clientOrderId: 'one', state: 'live' })
  const again = await place('one').catch((error: unknown) => error)
  expect(isPossibleDuplicate(again)).toBe(true)
  expect(standIn.control.requests().map(({ method }) => method)).toEqual(['POST', 'POST'])
})

const stale = new Error('the check of the chain is too old')
it.each<[string, Partial<OrderRequest>, () => void, unknown]>([
  [
    'the check before it throws',
    {},
    () => {
      throw stale
    },
    stale,
  ],
  ['the broker does not take its size', { notional: 1n }, () => undefined, expect.any(RangeError)],
])(
  'a placement sends nothing when %s, and gives its token back',
  async (_when, change, beforeSend, error) => {
    // Two are left, and the last one is kept.
    standIn.control.limit({ perMinute: 3 })
    await broker.getClock()
    for (let time = 0; time < 3; time++) {
      const placement = await broker.reserve({ ...ANY, withinMs: 0 })
      expect(placement).not.toBeNull()
      const request = Object.assign(buying(`late-${time}`), change)
      await expect(placement?.send(request, { beforeSend })).rejects.toEqual(error)
    }
    expect(standIn.control.orders()).toEqual([])
    expect(standIn.control.requests()).toHaveLength(1)
  },
)

it('a placement lapses when it waits for too long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const placement = await broker.reserve(ANY)
  await vi.advanceTimersByTimeAsync(29_999)
  expect(placement?.isReserved()).toBe(true)
  await vi.advanceTimersByTimeAsync(1)
  expect(placement?.isReserved()).toBe(false)
  await expect(placement?.send(buying('lapsed'), HOOKS)).rejects.toMatchObject({
    kind: 'unavailable',
    reason: 'placement-lapsed',
  })
})

it('following several orders shows each at its next change, all from one list', async () => {
  standIn.control.fill({ mode: 'hold' })
  const placed = await Promise.all(
    ['1', '2', '3', '4', '5'].map((id) => place(id, id === '5' ? 'MSFT' : 'AAPL')),
  )
  const following = placed.map((order) => broker.follow({ ...order, status: 'new' }, 10_000))
  standIn.control.release({})
  const ended = await Promise.all(following)
  expect(ended.map(({ clientOrderId, state }) => `${clientOrderId} ${state}`)).toEqual(
    ['1', '2', '3', '4', '5'].map((id) => `${id} filled`),
  )
  expect(asked('/v2/orders?').length).toBeLessThan(3)
  expect(asked('/v2/orders:by_client_order_id')).toEqual([])
})

it('a failure to say the clock or an asset is not remembered', async () => {
  standIn.control.fault({ path: '/v2/assets', respond: { status: 503 } })
  standIn.control.fault({ path: '/v2/clock', respond: { status: 503 } })
  await expect(broker.getAsset('AAPL')).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(broker.getClock()).rejects.toMatchObject({ kind: 'unavailable' })
  expect((await broker.getAsset('AAPL'))?.symbol).toBe('AAPL')
  expect((await broker.getClock()).isOpen).toBe(true)
})

it('a symbol that the broker refuses fails no other', async () => {
  const url = await startRawServer((request, response) => {
    const symbols = new URL(request.url ?? '', 'http://x').searchParams.get('symbols') ?? ''
    response.writeHead(symbols.includes('BAD') ? 400 : 200)
    response.end(JSON.stringify({ [symbols]: {} }))
  })
  const shared = sharedOf(url)
  const [bad, good] = await Promise.allSettled([shared.getSnapshots(['BAD']), shared.getSnapshots(['AAPL'])])
  expect(bad).toMatchObject({ reason: { kind: 'rejected' } })
  expect(good).toMatchObject({ value: new Map([['AAPL', expect.anything()]]) })
})

it('an order that cannot be read keeps no other from its answer', async () => {
  standIn.control.fill({ mode: 'hold', filledQty: 'null', times: 1 })
  const [bad, good] = [await place('bad'), await place('good')]
  standIn.control.release({})
  const [unread, read] = await Promise.allSettled([broker.follow(bad, 5_000), broker.follow(good, 5_000)])
  expect(unread).toMatchObject({ reason: { kind: 'unavailable', reason: 'unreadable' } })
  expect(read).toMatchObject({ value: { clientOrderId: 'good', state: 'filled' } })
})

it('a limit order that rests is asked for once, and again when the stream tells of its fill', async () => {
  const placement = await broker.reserve(ANY)
  await placement?.send({ ...buying('mine'), limitPrice: usd(190) }, HOOKS)
  const read = () => broker.readOrder('mine')
  const questions = () => asked('/v2/orders:by_client_order_id').length
  await eventually('a reading stands', async () => {
    await read()
    const before = questions()
    await read()
    return questions() === before
  })
  expect(await read()).toMatchObject({ state: 'live', filledQty: 0n })
  standIn.control.price({ symbol: 'AAPL', price: '189' })
  await eventually('the fill is read', async () => (await read())?.state === 'filled')
})
