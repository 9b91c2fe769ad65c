import type { MarketBars, MarketView } from '../../src/client/index.js'

/** A price at a time. */
export interface Point {
  /** Unix milliseconds. */
  readonly at: number
  /** The change since the previous close, in percent. */
  readonly percent: number
  /** USD with 6 decimals. */
  readonly price: bigint
}

interface Box {
  readonly width: number
  readonly height: number
}

/** The axes of a chart. Charts of one table share them, so that their slopes compare. */
export interface Scale {
  readonly from: number
  readonly to: number
  /** The percentages at the bottom and at the top. */
  readonly low: number
  readonly high: number
}

/** A pause longer than this ends a session. */
const GAP_MS = 4 * 3_600_000
/** The least height of a scale in percent: a quiet day looks quiet. */
const LEAST_SPAN = 0.5

/**
 * The known prices of a symbol, oldest first: the close of each bar at its end, and the last trade.
 * @param asOf when the prices were read, in place of an unknown time of the last trade
 */
export function pointsOf(
  quote: Pick<MarketView['symbols'][number], 'symbol' | 'price' | 'previousClose' | 'asOf'>,
  bars: Pick<MarketBars, 'symbols' | 'barSeconds'> | null,
  asOf: string,
): readonly Point[] {
  const { symbol, price, previousClose } = quote
  const known = bars?.symbols.find((one) => one.symbol === symbol)?.bars ?? []
  const tradedAt = Date.parse(quote.asOf ?? asOf)
  const base = Number(previousClose ?? known[0]?.close ?? price ?? 1n)
  const pointOf = (at: number, value: bigint) => ({
    at,
    price: value,
    percent: (Number(value) / base - 1) * 100,
  })
  const past = known
    .map(({ at, close }) => pointOf(Date.parse(at) + (bars?.barSeconds ?? 0) * 1_000, close))
    // The last trade is in a bar that ends after it, and is that bar's close.
    .filter(({ at }) => at < tradedAt)
  return price === null ? past : [...past, pointOf(tradedAt, price)]
}

/** The points of the last session alone. */
export function sessionOf(points: readonly Point[]): readonly Point[] {
  const begin = points.findLastIndex((point, index) => isAfterGap(point, points[index - 1]))
  return points.slice(Math.max(begin, 0))
}

function isAfterGap({ at }: Point, before: Point | undefined): boolean {
  return before !== undefined && at - before.at > GAP_MS
}

/** The scale that fits all of these charts, with the previous close in it. */
export function scaleOf(charts: readonly (readonly Point[])[]): Scale {
  const points = charts.flat()
  const times = points.map(({ at }) => at)
  const percents = points.map(({ percent }) => percent)
  const [low, high] = [Math.min(0, ...percents), Math.max(0, ...percents)]
  const missing = Math.max(0, LEAST_SPAN - (high - low)) / 2
  return {
    from: Math.min(...times),
    to: Math.max(...times),
    low: low - missing,
    high: high + missing,
  }
}

/** Where a point stands in a box: time from left to right, percentages from the bottom up. */
export function placeOf({ at, percent }: Pick<Point, 'at' | 'percent'>, scale: Scale, box: Box) {
  const x = scale.to === scale.from ? box.width : ((at - scale.from) / (scale.to - scale.from)) * box.width
  return { x, y: box.height - ((percent - scale.low) / (scale.high - scale.low)) * box.height }
}

/** The points as the `d` of an SVG path, with one line for each session; empty for fewer than two points. */
export function pathOf(points: readonly Point[], scale: Scale, box: Box): string {
  if (points.length < 2) return ''
  return points
    .map((point, index) => {
      const { x, y } = placeOf(point, scale, box)
      const isFirst = index === 0 || isAfterGap(point, points[index - 1])
      return `${isFirst ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}

/** The first point of each day after the first, for the marks of a time axis. */
export function daysOf(points: readonly Point[]): readonly Point[] {
  const dayOf = ({ at }: Point) => new Date(at).toDateString()
  return points.filter((point, index) => {
    const before = points[index - 1]
    return before !== undefined && dayOf(before) !== dayOf(point)
  })
}
