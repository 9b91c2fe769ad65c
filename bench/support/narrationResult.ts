import { growthOf, type Spread, spreadOf } from './statistics.js'

/** Both ways over the same ranges, right after one another, in milliseconds. */
export interface NarrationRound {
  readonly oursMs: number
  readonly bareMs: number
}

export interface NarrationResult {
  readonly kind: 'narration'
  readonly events: number
  readonly rounds: readonly NarrationRound[]
  /** Of one more catching up, through a proxy: HTTP requests to the node, and ticks. */
  readonly requests: number
  readonly ticks: number
  /** MiB in use after a garbage collection, from its first ticks to those that keep nothing to be taken back. */
  readonly heapMiB: readonly number[]
  /** Of its last ticks, whose events are kept. */
  readonly keepingHeapMiB: readonly number[]
  readonly notes: readonly string[]
}

const GOALS = { ofBare: 0.8, heapGrowth: 1.1 }

/** The lines of its table. */
export function narrationTable(result: NarrationResult): string[] {
  const { events, rounds, requests, ticks, heapMiB, keepingHeapMiB, notes } = result
  const perSecond = (ms: number) => (events * 1_000) / ms
  const ratio = spreadOf(rounds.map(({ oursMs, bareMs }) => bareMs / oursMs))
  const growth = growthOf(heapMiB)
  return [
    rateLine('ours', spreadOf(rounds.map(({ oursMs }) => perSecond(oursMs)))),
    rateLine('bare', spreadOf(rounds.map(({ bareMs }) => perSecond(bareMs)))),
    `  ours / bare ${ratio.median.toFixed(2)}   ${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)}, goal ${GOALS.ofBare}: ${verdict(ratio.median >= GOALS.ofBare)}`,
    `  ${requests} requests in ${ticks} ticks: ${requests === ticks ? 'one each' : 'NOT one each'}`,
    `  heap MiB ${listOf(heapMiB)}: the last by the first ${growth.toFixed(2)}, goal below ${GOALS.heapGrowth}: ${verdict(growth < GOALS.heapGrowth)}`,
    `  heap MiB ${listOf(keepingHeapMiB)} with the events that may be taken back`,
    ...notes.map((note) => `  ${note}`),
  ]
}

function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'missed'
}

function listOf(values: readonly number[]): string {
  return values.map((value) => value.toFixed(1)).join(', ')
}

function rateLine(name: string, { median, min, max }: Spread): string {
  return `  ${name.padEnd(12)}${median.toFixed(0).padStart(8)} events/s   ${min.toFixed(0)}..${max.toFixed(0)}`
}
