/** The value below which that share of the sorted values lies, by the nearest rank. */
export function quantile(sorted: readonly number[] | Float64Array, share: number): number {
  const rank = Math.max(1, Math.ceil(share * sorted.length))
  return sorted[rank - 1] ?? Number.NaN
}

/** A figure of several rounds: the middle one, and how far the others lie from it. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length / 2
  const median = (at(sorted, Math.ceil(half) - 1) + at(sorted, Math.floor(half))) / 2
  return { median, min: at(sorted, 0), max: at(sorted, sorted.length - 1) }
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? Number.NaN
}

/** Several samples tell an end from a beginning, as garbage collection is no clock. */
const ENDS = 3

/** The median of the last samples by that of the first. */
export function growthOf(samples: readonly number[]): number {
  return spreadOf(samples.slice(-ENDS)).median / spreadOf(samples.slice(0, ENDS)).median
}
