import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createMarketBarsView,
  createMarketClockView,
  createMarketView,
} from '../../../src/server/status/market.js'
import { FEES } from '../../support/brokerBooks.js'
import { brokerOf, SERVER_ACCOUNT, startStandIn, usd } from '../../support/brokerStandIn.js'
import { eventually } from '../../support/eventually.js'

const START = Date.parse('2027-01-05T14:00:00Z')
const [OPENS, CLOSES] = ['2027-01-05T14:30:00Z', '2027-01-05T21:00:00Z']
const HOUR_MS = 3_600_000
const QUARTER_MS = HOUR_MS / 4

afterEach(() => {
  vi.restoreAllMocks()
})

/** A real stand-in, with its and the server's time in the test's hand. */
async function setUp(options: { timeoutMs?: number } = {}) {
  let [time, monotonic] = [START, 0]
  const standIn = await startStandIn({ now: () => new Date(time) })
  onTestFinished(() => standIn.stop())
  let listed: readonly string[] = ['AAPL', 'MSFT']
  let isRead = false
  // A client of its own for each call: time passes for the views alone, not for what a client knows of the rate limit.
  const client = () => brokerOf(standIn.url, SERVER_ACCOUNT, options.timeoutMs)
  vi.spyOn(Date, 'now').mockImplementation(() => time)
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic)
  const asked = (start: string) =>
    standIn.control.requests().filter(({ url }) => url.startsWith(start)).length
  const deps = {
    broker: {
      getAsset: (symbol: string) => client().getAsset(symbol),
      getSnapshots: (symbols: readonly string[]) => client().getSnapshots(symbols),
      getBars: (filter: Parameters<ReturnType<typeof client>['getBars']>[0]) => client().getBars(filter),
      getClock: () => client().getClock(),
    },
    symbols: {
      current: () => (isRead ? listed : undefined),
      // From the chain, which may be down later.
      async read() {
        if (isRead) throw new Error('the list is known')
        isRead = true
        return listed
      },
    },
  }
  return {
    ...{ deps, control: standIn.control },
    list: (symbols: readonly string[]) => {
      listed = symbols
    },
    pass: (ms: number) => {
      time += ms
      monotonic += ms
    },
    /** The day's clock alone. */
    set: (ms: number) => {
      time += ms
    },
    snapshots: () => asked('/v2/stocks/snapshots'),
    assets: () => asked('/v2/assets/'),
    bars: () => asked('/v2/stocks/bars'),
    clocks: () => asked('/v2/clock'),
  }
}

describe('the market', () => {
  async function setUpMarket({
    patienceMs = 20_000,
    ...options
  }: Parameters<typeof setUp>[0] & { patienceMs?: number } = {}) {
    const market = await setUp(options)
    return { ...market, view: createMarketView({ ...market.deps, fees: FEES, patienceMs }) }
  }
  const names = ({ symbols }: { symbols: readonly { symbol: string }[] }) =>
    symbols.map(({ symbol }) => symbol)

  test('shows the close of before a split of today in the shares of today', async () => {
    const { view, control, pass } = await setUpMarket()
    const [before] = (await view()).symbols
    control.book({ type: 'forward_split', symbol: 'AAPL', day: '2027-01-05', newRate: '4', oldRate: '1' })
    pass(5 * 60_000)
    const [after] = (await view()).symbols
    expect(after).toMatchObject({ symbol: 'AAPL', previousClose: (before?.previousClose ?? 0n) / 4n })
    expect(after?.price).toBe(after?.previousClose)
  })

  test('shows symbols with their names and prices, and null where the broker has no price', async () => {
    const { view, control, pass } = await setUpMarket()
    control.price({ symbol: 'AAPL', price: '201.25', bid: '201.2', ask: '201.31' })
    control.snapshot({ symbol: 'MSFT', omit: ['latestTrade', 'prevDailyBar'] })
    const none = { price: null, previousClose: null, asOf: null }
    const msft = { symbol: 'MSFT', name: 'Microsoft Corporation Common Stock', ...none }
    expect(await view()).toEqual({
      ...{ asOf: '2027-01-05T14:00:00.000Z', stale: false, fees: FEES },
      symbols: [
        {
          ...{ symbol: 'AAPL', name: 'Apple Inc. Common Stock', price: usd(201.25), previousClose: usd(200) },
          ...{ bid: usd(201.2), ask: usd(201.31) },
          asOf: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        },
        { ...msft, bid: usd(410.49), ask: usd(410.51) },
      ],
    })
    control.snapshot({ symbol: 'MSFT', omit: 'all' })
    pass(4_000)
    expect((await view()).symbols[1]).toEqual({ ...msft, bid: null, ask: null })
  })

  test('shows nothing that is not tradable, inactive or not fractionable at the broker, or unknown to it', async () => {
    for (const change of [{ tradable: false }, { status: 'inactive' }, { fractionable: false }] as const) {
      const { view, control, list } = await setUpMarket()
      list(['AAPL', 'MSFT', 'NOPE'])
      control.asset({ symbol: 'AAPL', ...change })
      expect(names(await view())).toEqual(['MSFT'])
    }
  })

  test('is one call for all symbols and callers, and another when it is too old, without a wait for callers', async () => {
    const { view, pass, snapshots, assets, control } = await setUpMarket()
    const [first] = await Promise.all([view(), view(), view()])
    control.price({ symbol: 'AAPL', price: '150' })
    pass(1_999)
    expect(await view()).toBe(first)
    expect([snapshots(), assets()]).toEqual([1, 2])
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

  test('has its assets read again after a while, also where the clock is set back, and a new listing at once', async () => {
    const { view, pass, set, assets, list, control } = await setUpMarket()
    list(['AAPL'])
    await view()
    list(['AAPL', 'MSFT'])
    set(-HOUR_MS)
    pass(4_000)
    expect(await view()).toMatchObject({ asOf: '2027-01-05T13:00:04.000Z', symbols: [{}, {}] })
    expect(assets()).toBe(2)
    control.asset({ symbol: 'AAPL', tradable: false })
    pass(QUARTER_MS)
    expect(names(await view())).toEqual(['MSFT'])
    expect(assets()).toBe(4)
    // An asset that was known stays known.
    pass(QUARTER_MS)
    control.fault({ path: '/v2/assets', respond: { status: 500, body: {} }, times: 1_000 })
    expect(await view()).toMatchObject({ stale: false, symbols: [{ symbol: 'MSFT' }] })
  })

  test('gives the last answer as stale while the broker fails, and asks it again after a pause only', async () => {
    const { view, pass, control, snapshots } = await setUpMarket()
    const good = await view()
    pass(4_000)
    control.fault({ respond: { status: 500, body: {} }, times: 1_000 })
    for (let time = 0; time < 5; time++) expect(await view()).toEqual({ ...good, stale: true })
    expect(snapshots()).toBe(2)
    control.clear({ what: 'faults' })
    pass(2_000)
    expect(await view()).toMatchObject({ stale: false, asOf: '2027-01-05T14:00:06.000Z' })
  })

  test('gives the last answer while the broker is silent, although the call has not failed yet', async () => {
    const { view, pass, control } = await setUpMarket({ timeoutMs: HOUR_MS, patienceMs: 250 })
    const stale = { ...(await view()), stale: true }
    pass(4_000)
    control.fault({ path: '/v2/stocks/snapshots', delayMs: HOUR_MS })
    expect(await Promise.all([view(), view()])).toEqual([stale, stale])
  })
})

describe('the bars of the market', () => {
  async function setUpBars() {
    const market = await setUp()
    return { ...market, view: createMarketBarsView(market.deps) }
  }

  test('are the last days of every listed symbol, with the newest trade last, shared by all callers for a minute', async () => {
    const { view, control, bars, pass } = await setUpBars()
    control.price({ symbol: 'AAPL', price: '201.25' })
    control.snapshot({ symbol: 'MSFT', omit: 'all' })
    const [first, second] = await Promise.all([view(), view()])
    expect(second).toBe(first)
    expect(first).toMatchObject({ stale: false, barSeconds: 900 })
    const [aapl, msft] = first.symbols
    // A listed symbol without trading has none.
    expect(msft).toEqual({ symbol: 'MSFT', bars: [] })
    const times = aapl?.bars.map(({ at }) => Date.parse(at)) ?? []
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(START - (times[0] ?? 0)).toBeLessThan(5 * 24 * HOUR_MS + 1_000)
    expect(aapl?.bars.at(-1)?.close).toBe(usd(201.25))
    pass(59_000)
    expect(await view()).toBe(first)
    expect(bars()).toBe(1)
    pass(2_000)
    await view()
    await expect.poll(() => view(), { interval: 1 }).not.toMatchObject({ stale: true })
    expect(bars()).toBe(2)
  })

  test('are in the shares of after a split, also those of before it', async () => {
    const { view, control, pass } = await setUpBars()
    control.price({ symbol: 'AAPL', price: '200' })
    const before = (await view()).symbols[0]?.bars ?? []
    pass(86_400_000)
    control.book({
      ...({ type: 'forward_split', symbol: 'AAPL', day: '2027-01-06' } as const),
      ...{ newRate: '4', oldRate: '1' },
    })
    await expect.poll(() => view(), { interval: 1 }).not.toMatchObject({ stale: true })
    const after = new Map((await view()).symbols[0]?.bars.map(({ at, close }) => [at, close]))
    const kept = before.filter(({ at }) => after.has(at))
    expect(kept.length).toBeGreaterThan(50)
    for (const { at, close } of kept) expect(after.get(at)).toBe(close / 4n)
    expect([...after.values()].at(-1)).toBe(usd(50))
  })
})

describe('the market’s clock', () => {
  async function setUpClock() {
    const market = await setUp()
    market.control.clock({ open: false, nextOpen: OPENS, nextClose: CLOSES })
    return { ...market, view: createMarketClockView({ ...market.deps, maxAgeMs: 600_000 }) }
  }

  test.each([false, true])(
    'is not kept past an opening, slept over by the machine: %o',
    async (isSleeping) => {
      const { view, clocks, set, pass, control } = await setUpClock()
      pass(1_798_000)
      expect((await view()).isOpen).toBe(false)
      control.clock({ open: true })
      expect((await view()).isOpen).toBe(false)
      if (isSleeping) set(2_000)
      else pass(2_000)
      expect((await view()).isOpen).toBe(true)
      expect(clocks()).toBe(2)
    },
  )

  test('is known until the next opening while the broker fails, and not after it', async () => {
    const { view, pass, control } = await setUpClock()
    await view()
    control.fault({ respond: { status: 503, body: {} }, times: 1_000 })
    pass(1_799_999)
    expect((await view()).isOpen).toBe(false)
    pass(1)
    await expect(view()).rejects.toMatchObject({ name: 'MarketUnavailableError', retryAfterSeconds: 2 })
  })

  test.each([
    [START / 1_000 + 41, 41],
    // A minute's patience at most.
    [99_999_999_999, 60],
  ])('says when to come back after a rate limit that ends at %i: after %i s', async (reset, seconds) => {
    const { view, control } = await setUpClock()
    const headers = { 'x-ratelimit-reset': `${reset}` }
    control.fault({ respond: { status: 429, body: { message: 'too many requests.' }, headers } })
    const failure = { name: 'MarketUnavailableError', retryAfterSeconds: seconds }
    await expect(view()).rejects.toMatchObject(failure)
  })
})
