/** Prints what a storm has shown, and everything that must not be. */
export function printReport(
  { violations, ...figures }: { readonly violations: readonly string[] },
  print: (line: string) => void,
): void {
  for (const [name, value] of Object.entries(figures)) print(`${name}: ${inWords(value)}`)
  print(`violations: ${violations.length}`)
  for (const violation of violations) print(`  ${violation}`)
}

function inWords(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value))
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
