import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createMarketBarsView, MarketUnavailableError } from '../../../src/server/status/market.js'
import { brokerOf, SERVER_ACCOUNT, startStandIn, usd } from '../../support/brokerStandIn.js'

const DAY_MS = 86_400_000

afterEach(() => {
  vi.restoreAllMocks()
})

/** The bars of a real stand-in, with the server's monotonic time in the test's hand. */
async function setUp() {
  const standIn = await startStandIn({})
  onTestFinished(() => standIn.stop())
  let monotonic = 0
  let listed = ['AAPL', 'MSFT']
  // A client of its own for each call: time passes for the view alone, not for what a client knows of the rate limit.
  const broker = {
    getBars: (filter: Parameters<ReturnType<typeof brokerOf>['getBars']>[0]) => client().getBars(filter),
  }
  const client = () => brokerOf(standIn.url, SERVER_ACCOUNT)
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic)
  const view = createMarketBarsView({ broker, symbols: { current: () => listed, read: async () => listed } })
  return {
    view,
    control: standIn.control,
    list: (symbols: string[]) => {
      listed = symbols
    },
    pass: (ms: number) => {
      monotonic += ms
    },
    asked: () => standIn.control.requests().filter(({ url }) => url.startsWith('/v2/stocks/bars')),
  }
}

test('one answer has the last days of every listed symbol, and the newest trade last', async () => {
  const { view, control, asked } = await setUp()
  control.price({ symbol: 'AAPL', price: '201.25' })
  const bars = await view()
  expect(bars).toMatchObject({ stale: false, barSeconds: 900 })
  expect(bars.symbols.map(({ symbol }) => symbol)).toEqual(['AAPL', 'MSFT'])
  const [aapl] = bars.symbols
  const times = aapl?.bars.map(({ at }) => Date.parse(at)) ?? []
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(Date.now() - (times[0] ?? 0)).toBeLessThan(5 * DAY_MS + 1_000)
  expect(aapl?.bars.at(-1)?.close).toBe(usd(201.25))
  expect(asked()).toHaveLength(1)
})

test('all callers share an answer for a minute, whatever they look at', async () => {
  const { view, pass, asked } = await setUp()
  const [first, second] = await Promise.all([view(), view()])
  expect(second).toBe(first)
  pass(59_000)
  expect(await view()).toBe(first)
  expect(asked()).toHaveLength(1)
  pass(2_000)
  await view()
  await expect.poll(() => view()).not.toMatchObject({ stale: true })
  expect(asked()).toHaveLength(2)
})

test('a listed symbol without trading has no bars', async () => {
  const { view, control, list } = await setUp()
  list(['AAPL', 'NOPE'])
  control.snapshot({ symbol: 'AAPL', omit: 'all' })
  expect((await view()).symbols).toEqual([
    { symbol: 'AAPL', bars: [] },
    { symbol: 'NOPE', bars: [] },
  ])
})

test('the last answer serves, as stale, while the broker fails; without one there is none', async () => {
  const { view, control, pass } = await setUp()
  const fresh = await view()
  control.fault({ account: 'server', times: 100, respond: { status: 500 } })
  pass(300_000)
  const stale = await view()
  expect(stale).toEqual({ ...fresh, stale: true })
  expect(await view()).toBe(stale)
  const other = await setUp()
  other.control.fault({ account: 'server', times: 100, respond: { status: 500 } })
  await expect(other.view()).rejects.toBeInstanceOf(MarketUnavailableError)
})
