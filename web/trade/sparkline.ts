/** Prices of one symbol as the page has seen them. */
export interface SeenPrices {
  /** The previous day's close; null if the server does not know it. */
  readonly close: bigint | null
  /** Oldest first; one of every `stride` prices. */
  readonly sampled: readonly bigint[]
  readonly stride: number
  /** The number of prices seen. */
  readonly count: number
  readonly latest: bigint
}
export type Seen = ReadonlyMap<string, SeenPrices>

const MOST_SAMPLES = 60

/** Adds one price for each symbol. A different close starts a new day; a missing one is ignored. */
export function withPrices(
  seen: Seen,
  symbols: readonly { symbol: string; price: bigint | null; previousClose: bigint | null }[],
): Seen {
  const next = new Map(seen)
  for (const { symbol, price, previousClose } of symbols) {
    if (price === null) continue
    const before = next.get(symbol)
    const isSameDay = previousClose === null || previousClose === before?.close
    next.set(symbol, before && isSameDay ? withPrice(before, price) : firstOf(previousClose, price))
  }
  return next
}

/** The charted prices, starting with the close. */
export function chartedPrices(seen: SeenPrices | undefined): readonly bigint[] {
  if (seen === undefined) return []
  const { close, sampled, stride, count, latest } = seen
  const isSampled = (count - 1) % stride === 0
  return [...(close === null ? [] : [close]), ...sampled, ...(isSampled ? [] : [latest])]
}

function firstOf(close: bigint | null, price: bigint): SeenPrices {
  return { close, sampled: [price], stride: 1, count: 1, latest: price }
}

/** If there are too many samples, drops every second one and doubles the stride. */
function withPrice({ close, sampled, stride, count }: SeenPrices, latest: bigint): SeenPrices {
  const seen = { close, stride, count: count + 1, latest }
  if (count % stride !== 0) return { ...seen, sampled }
  const more = [...sampled, latest]
  if (more.length <= MOST_SAMPLES) return { ...seen, sampled: more }
  return { ...seen, stride: stride * 2, sampled: more.filter((_, index) => index % 2 === 0) }
}

/** The prices as the `d` of an SVG path in a box of this size; empty for fewer than two. */
export function pathOf(prices: readonly bigint[], width: number, height: number): string {
  if (prices.length < 2) return ''
  const values = prices.map(Number)
  const low = Math.min(...values)
  const span = Math.max(...values) - low || 1
  const step = width / (values.length - 1)
  return values
    .map((value, index) => {
      const y = height - ((value - low) / span) * height
      return `${index === 0 ? 'M' : 'L'}${(index * step).toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}
