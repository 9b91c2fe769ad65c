// The engine of every storm: a workload under planned faults, then in calm, and judged at the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { handled } from '../../support/handled.js'
import type { HostileClient } from './hostileClient.js'

export type Counts = Readonly<Record<string, number>>
export type Print = (line: string) => void

/** Readings of `performance.now()`. */
export interface Moments {
  readonly startedAt: number
  /** The last fault was over. */
  readonly calmAt: number
  /** All work had ended. */
  readonly settledAt: number
}

/** Programs under faults, their load, and the rules that the outcome must keep. */
export interface Workload<Figures extends object> {
  readonly seed: number
  readonly hostile: HostileClient
  /** Does everything that the plan says. Resolves once the last fault is over. */
  rage(): Promise<void>
  /** Waits until all work has ended. @returns work that does not end */
  settle(): Promise<readonly string[]>
  /** Holds the outcome against the chain and the other records. */
  judge(moments: Moments): Promise<{ readonly figures: Figures; readonly violations: readonly string[] }>
  /** Counts the faults that struck, by kind. */
  struck(): Promise<Counts>
  stop(): Promise<void>
}

export interface StormReport {
  readonly seed: number
  readonly struck: Counts
  /** Answers to the hostile client, by status. */
  readonly hostile: Counts
  readonly settledAfterSeconds: number
  readonly seconds: number
  /** Every broken rule. */
  readonly violations: readonly string[]
}

const LOOK_MS = 200
const MS_PER_SECOND = 1_000

/** Runs a storm from its first fault to its verdicts, and stops everything that it used. */
export async function runStorm<Figures extends object>(
  workload: Workload<Figures>,
): Promise<StormReport & Figures> {
  const { seed, hostile } = workload
  try {
    const startedAt = performance.now()
    await workload.rage()
    const calmAt = performance.now()
    const unsettled = await workload.settle()
    const settledAt = performance.now()
    const { figures, violations } = await workload.judge({ startedAt, calmAt, settledAt })
    return {
      ...figures,
      seed,
      struck: await workload.struck(),
      hostile: hostile.answered(),
      settledAfterSeconds: Math.round((settledAt - calmAt) / MS_PER_SECOND),
      seconds: Math.round((performance.now() - startedAt) / MS_PER_SECOND),
      violations: [...unsettled, ...hostile.faults(), ...violations],
    }
  } finally {
    await hostile.stop()
    await workload.stop()
  }
}

/** Strikes with planned things, each at its time after `begin`. */
export function createTimetable<Planned extends { readonly afterMs: number }>(
  strike: (planned: Planned) => Promise<void>,
) {
  const underWay: Promise<void>[] = []
  return {
    begin(planned: readonly Planned[]): void {
      underWay.push(...planned.map((one) => handled(sleep(one.afterMs).then(() => strike(one)))))
    },
    /** Resolves when everything begun so far has struck and ended. */
    async ended(): Promise<void> {
      await Promise.all(underWay)
    },
  }
}

/**
 * Looks until nothing is found, or for so long: some things need a moment to end.
 * @param isExcused whether a known cause explains a longer wait
 * @returns what the last look found
 */
export async function lookUntilNone(
  patienceMs: number,
  look: () => Promise<string[]>,
  isExcused: () => Promise<boolean> = async () => false,
): Promise<string[]> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const found = await look()
    if (found.length === 0 || (performance.now() > giveUpAt && !(await isExcused()))) return found
    await sleep(LOOK_MS)
  }
}

export function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** Prints the figures of a storm, then every violation. */
export function printReport({ violations, ...figures }: Pick<StormReport, 'violations'>, print: Print): void {
  for (const [name, value] of Object.entries(figures)) print(`${name}: ${inWords(value)}`)
  print(`violations: ${violations.length}`)
  for (const violation of violations) print(`  ${violation}`)
}

function inWords(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value))
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, number]) => `${name} ${number}`)
    .join(', ')
}
