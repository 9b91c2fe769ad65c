/** Prices of one symbol as the page has seen them. */
export interface SeenPrices {
  /** Of the day before; null when the server does not know it. */
  readonly close: bigint | null
  /** The oldest first, of each `stride` prices one. */
  readonly sampled: readonly bigint[]
  readonly stride: number
  /** How many were seen. */
  readonly count: number
  readonly latest: bigint
}
export type Seen = ReadonlyMap<string, SeenPrices>

const MOST_SAMPLES = 60

/** The same with one more price for each symbol. With another close, another day begins; a missing one says nothing. */
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

/** What the chart shows, from the close on. */
export function chartedPrices(seen: SeenPrices | undefined): readonly bigint[] {
  if (seen === undefined) return []
  const { close, sampled, stride, count, latest } = seen
  const isSampled = (count - 1) % stride === 0
  return [...(close === null ? [] : [close]), ...sampled, ...(isSampled ? [] : [latest])]
}

function firstOf(close: bigint | null, price: bigint): SeenPrices {
  return { close, sampled: [price], stride: 1, count: 1, latest: price }
}

/** Where there are too many, every second one goes, and from then on every second one comes. */
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
