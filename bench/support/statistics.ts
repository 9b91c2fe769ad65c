/** The value below which that share of the sorted values lies, by the nearest rank. */
export function quantile(sorted: readonly number[] | Float64Array, share: number): number {
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN
}

/** The middle one of several rounds, and how far the others lie from it. NaN of no rounds. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const [low = Number.NaN, high = Number.NaN] = [Math.ceil, Math.floor].map(
    (round) => sorted[round((sorted.length - 1) / 2)],
  )
  return { median: (low + high) / 2, min: sorted.at(0) ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}
