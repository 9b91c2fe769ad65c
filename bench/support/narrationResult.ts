import { type Spread, spreadOf } from './statistics.js'

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
  /** MiB in use after a garbage collection, from its first ticks to its last. */
  readonly heapMiB: readonly number[]
  readonly notes: readonly string[]
}

const GOAL = 0.7

/** The lines of its table. */
export function narrationTable(result: NarrationResult): string[] {
  const { events, rounds, requests, ticks, heapMiB, notes } = result
  const perSecond = (ms: number) => (events * 1_000) / ms
  const ratio = spreadOf(rounds.map(({ oursMs, bareMs }) => bareMs / oursMs))
  return [
    rateLine('ours', spreadOf(rounds.map(({ oursMs }) => perSecond(oursMs)))),
    rateLine('bare', spreadOf(rounds.map(({ bareMs }) => perSecond(bareMs)))),
    `  ours / bare ${ratio.median.toFixed(2)}   ${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)}, goal ${GOAL}: ${ratio.median >= GOAL ? 'met' : 'missed'}`,
    `  ${requests} requests in ${ticks} ticks: ${requests === ticks ? 'one each' : 'NOT one each'}`,
    `  heap MiB ${heapMiB.map((value) => value.toFixed(1)).join(', ')}`,
    ...notes.map((note) => `  ${note}`),
  ]
}

function rateLine(name: string, { median, min, max }: Spread): string {
  return `  ${name.padEnd(12)}${median.toFixed(0).padStart(8)} events/s   ${min.toFixed(0)}..${max.toFixed(0)}`
}
