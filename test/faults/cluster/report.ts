/** What a run has shown. */
export interface ClusterReport {
  readonly seed: number
  /** Orders whose escrow was opened, how many of them were taken with 202, and how they ended. */
  readonly orders: Record<'placed' | 'accepted' | 'settled' | 'refunded', number>
  /** By kind: how often each fault came about. */
  readonly struck: Record<string, number>
  readonly hostile: Record<string, number>
  /** Processes of servers that have ended. */
  readonly deaths: number
  /** How often each lease was taken. */
  readonly terms: Record<string, number>
  /** Changes of rows and leases that were looked at. */
  readonly rows: number
  readonly broadcasts: number
  /** Nonces under which more than one call was sent. */
  readonly sharedNonces: number
  /** Events of the chain, and those that no server has printed. */
  readonly narrated: Record<'events' | 'missing', number>
  readonly settledAfterSeconds: number
  readonly seconds: number
  /** Everything that must not be. */
  readonly violations: readonly string[]
}

export function printClusterReport(report: ClusterReport, print: (line: string) => void): void {
  const { violations, ...figures } = report
  for (const [name, value] of Object.entries(figures)) {
    print(`${name}: ${typeof value === 'object' ? list(value) : value}`)
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
