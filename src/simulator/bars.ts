import { formatDecimal, PRICE_DECIMALS } from '../protocol/units.js'
import { BAR_MS, type Listing, type Market } from './market.js'
import { dayBarTime } from './shapes.js'
import type { Reply } from './types.js'

// `GET /v2/stocks/bars`: the prices since the stand-in began, and before them a drawn past that ends at the previous close.

const DAY_MS = 86_400_000
/** The hours of a session, in UTC: 13:30 to 20:00. */
const [OPENS_MS, CLOSES_MS] = [13.5 * 3_600_000, 20 * 3_600_000]
/** The least pause before the last session. */
const PAUSE_MS = 6 * 3_600_000
const ADJUSTMENTS = ['raw', 'split', 'dividend', 'spin-off', 'all']
const [DEFAULT_LIMIT, MOST] = [1_000, 10_000]
/** Two waves, in hundredths of a percent and radians a bar. */
const WAVES = [
  [35, 0.37],
  [110, 0.05],
] as const
const CENT = 10_000n

interface Bar {
  readonly symbol: string
  readonly at: number
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

export function barsOf(query: URLSearchParams, market: Market, now: Date): Reply {
  const symbols = (query.get('symbols') ?? '').split(',').filter((symbol) => symbol !== '')
  const start = Date.parse(query.get('start') ?? '')
  if (symbols.length === 0) return { status: 400, body: { message: 'symbols is required' } }
  const timeframe = query.get('timeframe') ?? ''
  if (!['15Min', '1Day'].includes(timeframe)) return { status: 400, body: { message: 'invalid timeframe' } }
  const adjustments = (query.get('adjustment') ?? 'raw').split(',')
  if (!adjustments.every((each) => ADJUSTMENTS.includes(each)))
    return { status: 400, body: { message: 'invalid adjustment' } }
  const isAdjusted = adjustments.includes('split') || adjustments.includes('all')
  const limit = Math.min(Number(query.get('limit') ?? DEFAULT_LIMIT), MOST)
  const from = Number(query.get('page_token') ?? 0)
  const all = symbols
    .toSorted()
    .flatMap((symbol) => market.listings.get(symbol) ?? [])
    .filter(({ omit }) => omit !== 'all')
    .flatMap((listing) => {
      const quarters = () => [...past(listing, start, now), ...today(listing, start)]
      const raw = timeframe === '1Day' ? dayBefore(listing, start, now) : quarters()
      return isAdjusted ? raw.map((bar) => adjusted(bar, listing)) : raw
    })
  const page = all.slice(from, from + limit)
  const bars: Record<string, ReturnType<typeof jsonOf>[]> = {}
  for (const bar of page) bars[bar.symbol] = [...(bars[bar.symbol] ?? []), jsonOf(bar)]
  return {
    status: 200,
    body: { bars, next_page_token: all.length > from + limit ? String(from + limit) : null },
  }
}

/** The bar in the shares of after every split. */
function adjusted(bar: Bar, { splits }: Listing): Bar {
  const later = splits.filter(({ at }) => bar.at < at)
  const price = (raw: bigint) =>
    later.reduce((before, { numerator, denominator }) => (before * denominator) / numerator, raw)
  const { open, high, low, close } = bar
  return { ...bar, open: price(open), high: price(high), low: price(low), close: price(close) }
}

/** The whole day that the snapshot's previous close is of; the day that runs has no bar here. */
function dayBefore({ symbol, previousClose: close }: Listing, start: number, now: Date): Bar[] {
  const at = Date.parse(dayBarTime(new Date(now.getTime() - DAY_MS)))
  return at < start ? [] : [{ symbol, at, open: close, high: close, low: close, close }]
}

function today({ symbol, traded }: Listing, start: number): Bar[] {
  return [...traded]
    .filter(([at]) => at >= start)
    .sort(([a], [b]) => a - b)
    .map(([at, bar]) => ({ symbol, at, ...bar }))
}

/** Sessions of the days before, and one that ends where the stand-in's own trading begins, at the previous close. */
function past({ symbol, previousClose, traded }: Listing, start: number, now: Date): Bar[] {
  const end = Math.min(Math.floor(now.getTime() / BAR_MS) * BAR_MS, ...traded.keys())
  const begin = end - (CLOSES_MS - OPENS_MS)
  const times = [...sessions(start, begin - PAUSE_MS), ...spans(Math.max(begin, start), end)]
  const phase = [...symbol].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)
  const waveAt = (back: number) =>
    WAVES.reduce((sum, [bps, turn]) => sum + bps * (Math.sin(phase + back * turn) - Math.sin(phase)), 0)
  return times.map((at, index) => {
    const bps = BigInt(Math.round(waveAt(times.length - 1 - index)))
    const close = ((previousClose + (previousClose * bps) / 10_000n) / CENT) * CENT
    return { symbol, at, open: close, high: close + CENT, low: close - CENT, close }
  })
}

/** The spans of the sessions on working days within a time. */
function sessions(from: number, to: number): number[] {
  const days: number[] = []
  for (let day = Math.floor(from / DAY_MS) * DAY_MS; day < to; day += DAY_MS) days.push(day)
  return days
    .filter((day) => ![0, 6].includes(new Date(day).getUTCDay()))
    .flatMap((day) => spans(Math.max(day + OPENS_MS, from), Math.min(day + CLOSES_MS, to)))
}

function spans(from: number, to: number): number[] {
  const first = Math.ceil(from / BAR_MS)
  return Array.from(
    { length: Math.max(0, Math.ceil(to / BAR_MS) - first) },
    (_none, index) => (first + index) * BAR_MS,
  )
}

function jsonOf({ at, open, high, low, close }: Bar) {
  const price = (units: bigint) => Number(formatDecimal(units, PRICE_DECIMALS))
  const prices = { o: price(open), h: price(high), l: price(low), c: price(close) }
  return { t: `${new Date(at).toISOString().slice(0, 19)}Z`, ...prices, v: 1000, n: 10, vw: price(close) }
}
