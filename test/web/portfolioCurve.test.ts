import { expect, it } from 'vitest'
import type { EntryBody } from '../../src/client/history.js'
import { ONE_SHARE, ONE_USDC } from '../../src/protocol/units.js'
import { pricedOrders } from '../../web/orders/pricedOrders.js'
import { curveOf } from '../../web/trade/portfolioCurve.js'
import { fillWords } from '../../web/words/timeline.js'
import { bought, carried, DAY, FROM, HASH, history, splitOf } from '../client/history/statementSetting.js'

const split = { ...splitOf(4n, 1n), recordAt: FROM + 2 * DAY }
const entries = history(
  bought(ONE_SHARE, 200n * ONE_USDC),
  bought(10n * ONE_SHARE, 100n * ONE_USDC, 'MSFT'),
  bought(0n, 0n, 'MSFT'),
  carried(split, { AAPL: 3n * ONE_SHARE }),
)
const isoOf = (timestamp: number) => new Date(timestamp * 1_000).toISOString()

it('the value over the last days goes on over a split, although bars are in the shares of after it', () => {
  const barOf = (day: number, usdc: bigint) => ({ at: isoOf(FROM + day * DAY - 900), close: usdc * ONE_USDC })
  const bars = {
    barSeconds: 900,
    symbols: [
      { symbol: 'AAPL', bars: [barOf(0, 50n), barOf(1.9, 51n), barOf(2.5, 52n)] },
      { symbol: 'MSFT', bars: [barOf(0, 10n)] },
    ],
  }
  const quote = { name: 'Apple', previousClose: null, bid: null, ask: null, asOf: null }
  const now = { symbol: 'AAPL', price: 60n * ONE_USDC, ...quote }
  const points = curveOf(entries, bars, { symbols: [now], asOf: isoOf(FROM + 4 * DAY) })
  const days = points.map(({ at, price }) => [(at / 1_000 - FROM) / DAY, price / ONE_USDC])
  // The first price after the record moment comes half a day later: the one of before it holds until then.
  expect(days).toEqual([
    [0, 200n],
    [1, 300n],
    [1.9, 304n],
    [2, 304n],
    [2.5, 308n],
    [3, 308n],
    [4, 340n],
  ])
  expect(points.at(-1)?.percent).toBeCloseTo(70)
})

it('a fill from before a split is told with the price in the shares of today', () => {
  const one = { ...bought(ONE_SHARE, 200n * ONE_USDC), price: 200n * ONE_USDC }
  // A write may leave an entry of the same order after its fill.
  const rest = {
    kind: 'adjusted',
    orderId: HASH,
    version: 1n,
    sinceVersion: 0n,
    cash: 1n,
    shares: {},
  } as const
  const wordsAfter = (...later: readonly EntryBody[]) =>
    [...pricedOrders(history(one, rest, ...later)).values()].map(fillWords)
  expect(wordsAfter()).toEqual(['Bought 1 AAPL at 200.00, 200.00 USDC'])
  const told = 'Bought 1 AAPL at 200.00 (50.00 in today’s shares), 200.00 USDC'
  expect(wordsAfter(carried(split, { AAPL: 3n * ONE_SHARE }))).toEqual([told])
})
