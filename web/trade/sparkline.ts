/** Prices as the page has seen them, the oldest first. */
export type Seen = ReadonlyMap<string, readonly bigint[]>

const KEPT = 60

/** The same with one more price for each symbol, beginning with the close of the day before. */
export function withPrices(
  seen: Seen,
  symbols: readonly { symbol: string; price: bigint | null; previousClose: bigint | null }[],
): Seen {
  const next = new Map(seen)
  for (const { symbol, price, previousClose } of symbols) {
    if (price === null) continue
    const before = next.get(symbol) ?? (previousClose === null ? [] : [previousClose])
    next.set(symbol, [...before, price].slice(-KEPT))
  }
  return next
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
