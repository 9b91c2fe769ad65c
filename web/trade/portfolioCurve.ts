import { type HistoryEntry, valueOverTime } from '../../src/client/history.js'
import type { MarketBars, MarketView } from '../../src/client/index.js'
import { isRatio } from '../../src/protocol/corporateActions.js'
import { scaled } from '../../src/protocol/ratio.js'
import type { Point } from './chart.js'

/**
 * The portfolio's value over the days that the bars span, oldest first: at each bar's end, at each trade, and now. There is none
 * before the portfolio holds anything, nor while a holding has no known price. USDC in the escrow of an open order does not count.
 */
export function curveOf(
  entries: readonly HistoryEntry[],
  bars: Pick<MarketBars, 'symbols' | 'barSeconds'>,
  market: Pick<MarketView, 'symbols' | 'asOf'>,
): readonly Point[] {
  const [first] = entries
  const news = pricesByTime(bars, market)
  if (first === undefined) return []
  const begin = Math.max(first.timestamp, Math.min(...news.keys()))
  const now = Date.parse(market.asOf) / 1_000
  const times = [...news.keys(), ...entries.map(({ timestamp }) => timestamp)]
  const inSharesOf = unitsOf(entries)
  let known: Record<string, bigint> = {}
  const points = [...new Set(times)]
    .filter((timestamp) => timestamp <= now)
    .sort((a, b) => a - b)
    .map((timestamp) => {
      known = { ...known, ...news.get(timestamp) }
      return { timestamp, prices: inSharesOf(timestamp, known) }
    })
  const values = valueOverTime(entries, points).flatMap(({ timestamp, value }) =>
    value === null || timestamp < begin ? [] : [{ at: timestamp * 1_000, price: value }],
  )
  // A first order is in the escrow before there is anything to draw.
  const start = values.findIndex(({ price }) => price > 0n)
  const base = values[start]?.price
  if (base === undefined) return []
  return values
    .slice(start)
    .map(({ at, price }) => ({ at, price, percent: (Number(price) / Number(base) - 1) * 100 }))
}

/** The prices that became known at a time, in Unix seconds: the closes of bars, and the prices now. */
function pricesByTime(
  { symbols, barSeconds }: Pick<MarketBars, 'symbols' | 'barSeconds'>,
  market: Pick<MarketView, 'symbols' | 'asOf'>,
): ReadonlyMap<number, Readonly<Record<string, bigint>>> {
  const news = new Map<number, Record<string, bigint>>()
  const learn = (timestamp: number, symbol: string, price: bigint) => {
    news.set(timestamp, { ...news.get(timestamp), [symbol]: price })
  }
  for (const { symbol, bars } of symbols) {
    for (const { at, close } of bars) learn(Date.parse(at) / 1_000 + barSeconds, symbol, close)
  }
  for (const { symbol, price } of market.symbols) {
    if (price !== null) learn(Date.parse(market.asOf) / 1_000, symbol, price)
  }
  return news
}

/**
 * Prices in the shares of a time, Unix seconds. Those of bars are in the shares of after each split, and a portfolio from before a record
 * moment holds the shares of before. A split that found no shares is in no entry.
 */
function unitsOf(entries: readonly HistoryEntry[]) {
  const splits = entries.flatMap((entry) =>
    entry.kind === 'carried' && isRatio(entry.action) ? [entry.action] : [],
  )
  return (timestamp: number, prices: Readonly<Record<string, bigint>>): Readonly<Record<string, bigint>> => {
    const then = { ...prices }
    for (const { symbol, recordAt, ...by } of splits) {
      const price = then[symbol]
      if (price !== undefined && timestamp < recordAt) then[symbol] = scaled(price, by)
    }
    return then
  }
}
