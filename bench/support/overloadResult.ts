import type { OpenLoopResult } from './openLoopPlan.js'
import { type Spread, spreadOf } from './statistics.js'

/** What a server did under one load. */
export interface OverloadLevel extends OpenLoopResult {
  /** The load, in times of what the server can carry. */
  readonly times: number
}

/** Every load, one right after the other. */
export interface OverloadRound {
  /** What the server can carry: answered in a second when each client waits for its answer. */
  readonly capacity: number
  readonly levels: readonly OverloadLevel[]
}

export interface OverloadResult {
  readonly kind: 'overload'
  readonly rounds: readonly OverloadRound[]
  readonly notes: readonly string[]
}

const GOAL = 0.9

/** What is answered in time under the greatest load, by the most that is under any. */
export function goodputKept({ levels }: OverloadRound): number {
  const peak = Math.max(...levels.map(({ goodPerSecond }) => goodPerSecond))
  return (levels.at(-1)?.goodPerSecond ?? 0) / peak
}

/** The lines of its table: medians of the rounds. */
export function overloadTable({ rounds, notes }: OverloadResult): string[] {
  const capacity = spreadOf(rounds.map((round) => round.capacity))
  const kept = spreadOf(rounds.map(goodputKept))
  const reached = kept.median >= GOAL ? 'met' : 'missed'
  return [
    `  can carry ${capacity.median.toFixed(0)}/s   ${capacity.min.toFixed(0)}..${capacity.max.toFixed(0)}`,
    `  ${['load', 'due/s', 'asked/s', 'good/s', '503/s', 'p50 ms', 'p99 ms', '503 p99'].map((name) => name.padStart(9)).join('')}`,
    ...(rounds[0]?.levels ?? []).map((_level, index) => levelLine(rounds, index)),
    `  goodput under the last load by its peak ${kept.median.toFixed(2)}   ${kept.min.toFixed(2)}..${kept.max.toFixed(2)}, goal ${GOAL}: ${reached}`,
    ...notes.map((note) => `  ${note}`),
  ]
}

function levelLine(rounds: readonly OverloadRound[], index: number): string {
  const median = (of: (level: OverloadLevel) => number): number => {
    const levels = rounds.flatMap(({ levels }) => levels[index] ?? [])
    return medianOf(spreadOf(levels.map(of)))
  }
  const perSecond = (level: OverloadLevel, count: number) =>
    level.good === 0 ? Number.NaN : (count * level.goodPerSecond) / level.good
  const cells = [
    `${median(({ times }) => times)} x`,
    median((level) => perSecond(level, level.due)).toFixed(0),
    median((level) => perSecond(level, level.asked)).toFixed(0),
    median(({ goodPerSecond }) => goodPerSecond).toFixed(0),
    median((level) => perSecond(level, level.refused)).toFixed(0),
    median(({ p50Ms }) => p50Ms).toFixed(0),
    median(({ p99Ms }) => p99Ms).toFixed(0),
    median(({ refusedP99Ms }) => refusedP99Ms ?? Number.NaN).toFixed(0),
  ]
  return `  ${cells.map((cell) => cell.padStart(9)).join('')}`
}

function medianOf({ median }: Spread): number {
  return median
}
