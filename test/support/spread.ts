/** The median of several values, and their range; NaN without any. */
export function spreadOf(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number) => sorted.at(index) ?? Number.NaN
  const middle = (sorted.length - 1) / 2
  return { median: (at(Math.ceil(middle)) + at(Math.floor(middle))) / 2, min: at(0), max: at(-1) }
}
