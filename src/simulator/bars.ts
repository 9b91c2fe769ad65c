import { formatDecimal, PRICE_DECIMALS } from '../protocol/units.js'
import { BAR_MS, type Listing, type Market } from './market.js'
import type { Reply } from './types.js'

// `GET /v2/stocks/bars`: the prices since the stand-in began, and before them a drawn past that ends at the previous close.

/** The hours of a session, in UTC: 13:30 to 20:00. */
const [OPENS_H, CLOSES_H] = [13.5, 20]
const [DEFAULT_LIMIT, MOST] = [1_000, 10_000]
/** A wave, in hundredths of a percent and radians a bar. */
const [WAVE_BPS, TURN] = [110, 0.05]
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
  if (query.get('timeframe') !== '15Min') return { status: 400, body: { message: 'invalid timeframe' } }
  const limit = Math.min(Number(query.get('limit') ?? DEFAULT_LIMIT), MOST)
  const from = Number(query.get('page_token') ?? 0)
  const all = symbols
    .toSorted()
    .flatMap((symbol) => market.listings.get(symbol) ?? [])
    .filter(({ omit }) => omit !== 'all')
    .flatMap((listing) => [...past(listing, start, now), ...today(listing, start)])
  const page = all.slice(from, from + limit)
  const bars: Record<string, ReturnType<typeof jsonOf>[]> = {}
  for (const bar of page) bars[bar.symbol] = [...(bars[bar.symbol] ?? []), jsonOf(bar)]
  return {
    status: 200,
    body: { bars, next_page_token: all.length > from + limit ? String(from + limit) : null },
  }
}

function today({ symbol, traded }: Listing, start: number): Bar[] {
  return [...traded]
    .filter(([at]) => at >= start)
    .sort(([a], [b]) => a - b)
    .map(([at, bar]) => ({ symbol, at, ...bar }))
}

/** The sessions of working days before the stand-in's own trading, which begins at the previous close. */
function past({ symbol, previousClose, traded }: Listing, start: number, now: Date): Bar[] {
  const end = Math.min(Math.floor(now.getTime() / BAR_MS) * BAR_MS, ...traded.keys())
  const first = Math.ceil(start / BAR_MS)
  const count = Math.max(0, end / BAR_MS - first)
  const phase = [...symbol].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)
  return Array.from({ length: count }, (_none, index) => (first + index) * BAR_MS)
    .filter(isInSession)
    .map((at) => {
      const wave = Math.sin(phase + ((end - at) / BAR_MS) * TURN) - Math.sin(phase)
      const bps = BigInt(Math.round(WAVE_BPS * wave))
      const close = ((previousClose + (previousClose * bps) / 10_000n) / CENT) * CENT
      return { symbol, at, open: close, high: close + CENT, low: close - CENT, close }
    })
}

function isInSession(at: number): boolean {
  const time = new Date(at)
  const hour = time.getUTCHours() + time.getUTCMinutes() / 60
  return ![0, 6].includes(time.getUTCDay()) && hour >= OPENS_H && hour < CLOSES_H
}

function jsonOf({ at, open, high, low, close }: Bar) {
  const price = (units: bigint) => Number(formatDecimal(units, PRICE_DECIMALS))
  const prices = { o: price(open), h: price(high), l: price(low), c: price(close) }
  return { t: `${new Date(at).toISOString().slice(0, 19)}Z`, ...prices, v: 1000, n: 10, vw: price(close) }
}
