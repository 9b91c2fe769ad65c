import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMarketView } from '../../../src/server/status/market.js'
import type { BrokerStandInOptions } from '../../../src/simulator/index.js'
import { FEES } from '../../support/brokerBooks.js'
import { brokerOf, SERVER_ACCOUNT, startStandIn, usd } from '../../support/brokerStandIn.js'
import { eventually } from '../../support/eventually.js'

const START = Date.parse('2026-03-02T15:00:00Z')

afterEach(() => {
  vi.restoreAllMocks()
})

/** The market of a real stand-in, with the server's own time in the test's hand. */
async function setUp(options: {
  symbols?: readonly string[]
  standIn?: Partial<BrokerStandInOptions>
  /** The time-out of one call to the broker. */
  timeoutMs?: number
  /** How long a caller waits for it: here as long as a busy machine needs. */
  patienceMs?: number
}) {
  const standIn = await startStandIn(options.standIn)
  onTestFinished(() => standIn.stop())
  let time = START
  let monotonic = 0
  let listed = options.symbols ?? ['AAPL', 'MSFT']
  // A client of its own for each call: time passes for the view alone, not for what a client knows of the rate limit.
  const broker = () => brokerOf(standIn.url, SERVER_ACCOUNT, options.timeoutMs)
  vi.spyOn(Date, 'now').mockImplementation(() => time)
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic)
  const view = createMarketView({
    broker: {
      getAsset: (symbol) => broker().getAsset(symbol),
      getSnapshots: (symbols) => broker().getSnapshots(symbols),
    },
    symbols: { current: () => listed, read: async () => listed },
    fees: FEES,
    maxAgeMs: 2_000,
    patienceMs: options.patienceMs ?? 20_000,
  })
  const paths = () => standIn.control.requests().map(({ url }) => url.split('?')[0])
  return {
    view,
    control: standIn.control,
    stop: () => standIn.stop(),
    list: (symbols: readonly string[]) => {
      listed = symbols
    },
    pass: (ms: number) => {
      time += ms
      monotonic += ms
    },
    /** The day's clock alone. */
    setBack: (ms: number) => {
      time -= ms
    },
    snapshots: () => paths().filter((path) => path === '/v2/stocks/snapshots').length,
    assets: () => paths().filter((path) => path?.startsWith('/v2/assets/')).length,
  }
}

describe('the view shows', () => {
  test('symbols with their names and prices', async () => {
    const { view, control } = await setUp({})
    control.price({ symbol: 'AAPL', price: '201.25', bid: '201.2', ask: '201.31' })
    const market = await view()
    expect(market).toMatchObject({ asOf: '2026-03-02T15:00:00.000Z', stale: false, fees: FEES })
    expect(market.symbols).toEqual([
      {
        symbol: 'AAPL',
        name: 'Apple Inc. Common Stock',
        price: usd(201.25),
        previousClose: usd(200),
        bid: usd(201.2),
        ask: usd(201.31),
        asOf: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      expect.objectContaining({ symbol: 'MSFT', price: usd(410.5) }),
    ])
  })

  test.each([
    ['not tradable', { tradable: false }],
    ['inactive', { status: 'inactive' }],
    ['not fractionable, as orders are by amount', { fractionable: false }],
  ] as const)('nothing that is %s at the broker', async (_case, change) => {
    const { view, control } = await setUp({})
    control.asset({ symbol: 'AAPL', ...change })
    expect((await view()).symbols.map(({ symbol }) => symbol)).toEqual(['MSFT'])
  })

  test('nothing that the broker does not know', async () => {
    const { view } = await setUp({ symbols: ['AAPL', 'NOPE'] })
    expect((await view()).symbols.map(({ symbol }) => symbol)).toEqual(['AAPL'])
  })

  test('null where the broker has no price', async () => {
    const { view, control } = await setUp({})
    control.snapshot({ symbol: 'AAPL', omit: 'all' })
    control.snapshot({ symbol: 'MSFT', omit: ['latestTrade', 'prevDailyBar'] })
    const none = { price: null, previousClose: null, asOf: null }
    expect((await view()).symbols).toEqual([
      { symbol: 'AAPL', name: 'Apple Inc. Common Stock', ...none, bid: null, ask: null },
      expect.objectContaining({ symbol: 'MSFT', ...none, bid: usd(410.49), ask: usd(410.51) }),
    ])
  })

  test('an empty list when nothing is listed, without asking the broker', async () => {
    const { view, snapshots, assets } = await setUp({ symbols: [] })
    expect(await view()).toEqual({ asOf: expect.any(String), stale: false, symbols: [], fees: FEES })
    expect([snapshots(), assets()]).toEqual([0, 0])
  })
})

describe('calls to the broker:', () => {
  test('one snapshots call for all symbols and all callers', async () => {
    const { view, snapshots, assets } = await setUp({})
    await Promise.all([view(), view(), view()])
    await view()
    expect([snapshots(), assets()]).toEqual([1, 2])
  })

  test('a call again when the answer is too old, without a wait for callers, and none for assets', async () => {
    const { view, pass, snapshots, assets, control } = await setUp({})
    const first = await view()
    control.price({ symbol: 'AAPL', price: '150' })
    pass(1_999)
    expect(await view()).toBe(first)
    pass(1)
    const [stale, again] = await Promise.all([view(), view()])
    expect(stale).toEqual({ ...first, stale: true })
    expect(again).toBe(stale)
    const next = await eventually('the next answer', async () => {
      const market = await view()
      return !market.stale && market
    })
    expect(next.symbols[0]?.price).toBe(usd(150))
    expect([snapshots(), assets()]).toEqual([2, 2])
  })

  test('a look at the assets again after a while, and at a new listing at once', async () => {
    const { view, pass, assets, list, control } = await setUp({ symbols: ['AAPL'] })
    await view()
    list(['AAPL', 'MSFT'])
    pass(4_000)
    expect((await view()).symbols.length).toBe(2)
    expect(assets()).toBe(2)
    control.asset({ symbol: 'AAPL', tradable: false })
    pass(15 * 60_000)
    expect((await view()).symbols.map(({ symbol }) => symbol)).toEqual(['MSFT'])
    expect(assets()).toBe(4)
  })
})

describe('while the broker fails', () => {
  test.each([
    ['an error', { respond: { status: 500, body: { message: 'oops' } } }],
    ['garbage', { respond: { status: 200, body: 'no prices' } }],
    ['a cut connection', { drop: 'before' }],
    ['refused keys', { respond: { status: 401, body: { message: 'unauthorized.' } } }],
  ] as const)('with %s, the last answer is given as stale and with its own time', async (_case, fault) => {
    const { view, pass, control } = await setUp({})
    const good = await view()
    pass(4_000)
    control.fault({ ...fault, times: 1_000 })
    expect(await view()).toEqual({ ...good, stale: true })
    control.clear({ what: 'faults' })
    pass(2_000)
    expect(await view()).toMatchObject({ stale: false, asOf: '2026-03-02T15:00:06.000Z' })
  })

  test('it is not asked again at every request', async () => {
    const { view, pass, control, snapshots } = await setUp({})
    await view()
    pass(4_000)
    control.fault({ respond: { status: 500, body: {} }, times: 1_000 })
    for (let i = 0; i < 5; i++) await view()
    expect(snapshots()).toBe(2)
  })

  test('with silence too, although the call has not failed yet', async () => {
    const hour = 3_600_000
    const { view, pass, control } = await setUp({ timeoutMs: hour, patienceMs: 250 })
    const good = await view()
    pass(4_000)
    control.fault({ path: '/v2/stocks/snapshots', delayMs: hour })
    const stale = { ...good, stale: true }
    expect(await Promise.all([view(), view()])).toEqual([stale, stale])
    expect(await view()).toEqual(stale)
  })

  test('its rate limit is respected until it ends', async () => {
    const { view, pass, control, snapshots } = await setUp({})
    await view()
    pass(4_000)
    const resetAt = Math.floor(START / 1_000) + 32
    control.fault({
      respond: {
        status: 429,
        body: { message: 'too many requests.' },
        headers: { 'x-ratelimit-reset': String(resetAt) },
      },
    })
    expect((await view()).stale).toBe(true)
    pass(27_000)
    expect((await view()).stale).toBe(true)
    expect(snapshots()).toBe(2)
    pass(1_000)
    expect((await view()).stale).toBe(false)
  })

  test('an asset that was known before stays known', async () => {
    const { view, pass, control } = await setUp({})
    await view()
    pass(15 * 60_000)
    control.fault({ path: '/v2/assets', respond: { status: 500, body: {} }, times: 1_000 })
    expect(await view()).toMatchObject({ stale: false, symbols: [{ symbol: 'AAPL' }, { symbol: 'MSFT' }] })
  })
})

describe('while the clock is set back by an hour', () => {
  const HOUR_MS = 3_600_000

  test('prices and assets grow old as ever, and bear the time that it is by now', async () => {
    const { view, pass, setBack, snapshots, assets } = await setUp({})
    await view()
    setBack(HOUR_MS)
    pass(4_000)
    expect(await view()).toMatchObject({ stale: false, asOf: '2026-03-02T14:00:04.000Z' })
    pass(15 * 60_000)
    await view()
    expect([snapshots(), assets()]).toEqual([3, 4])
  })
})
