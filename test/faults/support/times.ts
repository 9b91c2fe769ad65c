import type { Told } from './callers.js'
import { STALL_BOUND_MS } from './settings.js'

/** How long things took, in milliseconds. */
export interface Times {
  /** The longest that nothing ended while something was under way and a server was up. */
  readonly longestPauseMs: number
  /** From when an authorization was first posted until its end was told: the middle one, and the longest. */
  readonly medianMs: number
  readonly slowestMs: number
  /** From the last fault until everything had ended. */
  readonly settledAfterMs: number
  readonly wallMs: number
  /** How many had ended when the last fault struck. */
  readonly endedUnderFaults: number
}

/** Of `performance.now()`: when a server was started, and when it was killed. */
export interface Uptime {
  readonly from: number
  readonly to: number
}

export interface Moments {
  readonly startedAt: number
  readonly calmAt: number
  readonly settledAt: number
  readonly uptimes: readonly Uptime[]
}

export function timesOf(told: readonly Told[], { startedAt, calmAt, settledAt, uptimes }: Moments): Times {
  const ascending = (a: number, b: number) => a - b
  const ends = told.flatMap(({ endedAt }) => endedAt ?? []).toSorted(ascending)
  const taken = told
    .flatMap(({ postedAt, endedAt }) => (postedAt && endedAt ? endedAt - postedAt : []))
    .toSorted(ascending)
  return {
    longestPauseMs: Math.max(0, ...uptimes.flatMap((uptime) => pausesIn(uptime, ends))),
    medianMs: taken[Math.floor(taken.length / 2)] ?? 0,
    slowestMs: taken.at(-1) ?? 0,
    settledAfterMs: settledAt - calmAt,
    wallMs: performance.now() - startedAt,
    endedUnderFaults: ends.filter((end) => end < calmAt).length,
  }
}

/** A server that is killed begins anew with its patience. Until the last end there is always something under way. */
function pausesIn({ from, to }: Uptime, ends: readonly number[]): number[] {
  const within = ends.filter((end) => end >= from && end <= to)
  const last = ends.at(-1) ?? to
  const moments = [from, ...within, Math.max(from, Math.min(to, last))]
  return moments.slice(1).map((moment, i) => moment - (moments[i] ?? moment))
}

/** Milliseconds of the span in which a server was up. */
export function uptimeWithin(uptimes: readonly Uptime[], span: Uptime): number {
  const parts = uptimes.map(({ from, to }) => Math.min(to, span.to) - Math.max(from, span.from))
  return parts.reduce((sum, part) => sum + Math.max(0, part), 0)
}

/** What took longer than the relay's patience explains. */
export function stalls({ longestPauseMs, settledAfterMs }: Times): string[] {
  const faults: string[] = []
  if (longestPauseMs > STALL_BOUND_MS) faults.push(`nothing ended for ${Math.round(longestPauseMs)} ms`)
  if (settledAfterMs > STALL_BOUND_MS)
    faults.push(`settled ${Math.round(settledAfterMs)} ms after the last fault`)
  return faults
}
