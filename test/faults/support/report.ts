import type { NoOps } from './noOps.js'
import type { Times } from './times.js'

/** What a run has shown. */
export interface Report extends Times {
  readonly seed: number
  readonly authorizations: number
  readonly callers: number
  /** By kind: how often the process was ended there. */
  readonly kills: Record<string, number>
  /** Lives that were to end at a step that did not come about; they ended by the clock. */
  readonly unreached: number
  /** By kind: how often each fault struck. */
  readonly struck: Record<string, number>
  /** Answers to the hostile client, by status. */
  readonly hostile: Record<string, number>
  readonly requests: number
  /** Transactions of the relayer's account in blocks. */
  readonly transactions: Record<'effects' | 'reverted' | 'noOps' | 'fromOutside', number>
  /** By what the server knew of the nonce: how often it decided to fill one. */
  readonly filled: NoOps
  /** Authorizations that had to be posted again, as a reorganization between two lives took their effect back. */
  readonly takenBack: number
  /** Everything that must not be. */
  readonly violations: readonly string[]
}

export function printReport(report: Report, print: (line: string) => void): void {
  const { kills, struck, hostile, transactions, filled, violations, ...figures } = report
  for (const [name, value] of Object.entries(figures)) print(`${name}: ${Math.round(value)}`)
  for (const [title, counts] of Object.entries({ kills, struck, hostile, transactions, filled })) {
    print(`${title} (${sum(counts)}): ${list(counts)}`)
  }
  print(`violations: ${violations.length}`)
  for (const violation of violations) print(`  ${violation}`)
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}

function list(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
