import type { FloodResult } from './floodPlan.js'
import type { OpenLoopResult } from './openLoopPlan.js'
import { type Spread, spreadOf } from './statistics.js'

/** What honest clients got, and one that flooded the server at the same time; null when none did. */
export interface FloodLevel {
  readonly name: string
  readonly honest: OpenLoopResult
  readonly hostile: FloodResult | null
  /** The machine's load over the last minute, at the end. */
  readonly load: number
}

/** No flood, and then each, one right after the other. */
export type FloodRound = readonly FloodLevel[]

export interface FloodsResult {
  readonly kind: 'floods'
  readonly rounds: readonly FloodRound[]
  readonly durationMs: number
  readonly notes: readonly string[]
}

const GOAL = 0.9

/** The share of the honest requests that were answered in time, of all that fell due. */
export function honestShare({ honest }: FloodLevel): number {
  return honest.good / honest.due
}

/** The lines of its table: medians of the rounds. */
export function floodsTable({ rounds, durationMs, notes }: FloodsResult): string[] {
  const names = (rounds[0] ?? []).map(({ name }) => name)
  const width = Math.max(...names.map((name) => name.length))
  const heads = [
    'honest share',
    'min..max',
    'p50 ms',
    'p99 ms',
    'answered/s',
    'refused/s',
    'opened/s',
    'load',
  ]
  const lines = names.map((name, index) => {
    const levels = rounds.flatMap((round) => round[index] ?? [])
    const median = (of: (level: FloodLevel) => number): number => middleOf(spreadOf(levels.map(of)))
    const perSecond = (isRefused: boolean) =>
      median(({ hostile }) => countOf(hostile, isRefused) / (durationMs / 1_000))
    const { median: share, min, max } = spreadOf(levels.map(honestShare))
    const cells = [
      share.toFixed(2),
      `${min.toFixed(2)}..${max.toFixed(2)}`,
      median(({ honest }) => honest.p50Ms).toFixed(0),
      median(({ honest }) => honest.p99Ms).toFixed(0),
      perSecond(false).toFixed(0),
      perSecond(true).toFixed(0),
      median(({ hostile }) => (hostile?.opened ?? 0) / (durationMs / 1_000)).toFixed(0),
      median(({ load }) => load).toFixed(1),
    ]
    return `  ${name.padEnd(width)}${cells.map((cell) => cell.padStart(13)).join('')}`
  })
  const [, ...floods] = rounds[0] ?? []
  const least = Math.min(
    ...floods.map((_level, index) =>
      middleOf(spreadOf(rounds.flatMap((round) => round.slice(index + 1, index + 2).map(honestShare)))),
    ),
  )
  return [
    `  ${''.padEnd(width)}${heads.map((head) => head.padStart(13)).join('')}`,
    ...lines,
    `  the least honest share ${least.toFixed(2)}, goal ${GOAL}: ${least >= GOAL ? 'met' : 'missed'}`,
    ...notes.map((note) => `  ${note}`),
  ]
}

const REFUSED: ReadonlySet<string> = new Set(['429', '503'])

function countOf(hostile: FloodResult | null, isRefused: boolean): number {
  return Object.entries(hostile?.answers ?? {})
    .filter(([status]) => REFUSED.has(status) === isRefused)
    .reduce((sum, [, count]) => sum + count, 0)
}

function middleOf({ median }: Spread): number {
  return median
}
