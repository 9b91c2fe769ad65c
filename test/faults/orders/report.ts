/** What a run has shown. */
export interface OrderReport {
  readonly seed: number
  /** Orders whose escrow was opened, how many of them were taken with 202, and how they ended. */
  readonly orders: Record<'placed' | 'accepted' | 'settled' | 'refunded', number>
  /** By kind: how often the server was killed there. */
  readonly kills: Record<string, number>
  readonly unreached: number
  readonly spoilt: number
  /** By kind: how often each fault came about. */
  readonly struck: Record<string, number>
  /** Answers to the hostile client by status, and how many orders it copied. */
  readonly hostile: Record<string, number>
  /** What was filled up. */
  readonly disk: string
  /** Runs that the enclave took. */
  readonly runs: number
  /** How often it was killed, and what came of the runs that it had under way. */
  readonly enclave: Record<'deaths' | 'cutOff' | 'restarted' | 'medianMs' | 'slowestMs', number>
  readonly settledAfterSeconds: number
  readonly seconds: number
  /** Everything that must not be. */
  readonly violations: readonly string[]
}

export function printOrderReport(report: OrderReport, print: (line: string) => void): void {
  const { orders, kills, enclave, struck, hostile, violations, ...figures } = report
  for (const [name, value] of Object.entries(figures)) print(`${name}: ${value}`)
  for (const [title, counts] of Object.entries({ orders, kills, enclave, struck, hostile })) {
    print(`${title}: ${list(counts)}`)
  }
  print(`violations: ${violations.length}`)
  for (const violation of violations) print(`  ${violation}`)
}

function list(counts: Record<string, number>): string {
  return Object.entries(counts)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
