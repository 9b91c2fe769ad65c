import { performance } from 'node:perf_hooks'
import { idleMs } from './idleTime.js'

/** How long the process has had no rest before it counts as overloaded: a single long pause is none. */
const WITHOUT_REST_MS = 100

export interface LatenessOptions {
  /** Longest wait, in milliseconds, before a request's turn. */
  readonly maxWaitMs: number
  /** Milliseconds of a clock that only goes on. */
  readonly now?: () => number
  readonly idle?: typeof idleMs
  /** Calls back when everything is dealt with that had come when this turn of the event loop began. */
  readonly atTurnEnd?: (ended: () => void) => void
}

/**
 * Tells of each request, when it is taken up, whether it comes too late: it has waited for longer than `maxWaitMs`, in
 * a process that has had no rest for a while.
 *
 * What arrives while the event loop is busy waits until its next turn, and in that turn for all that is before it. So a
 * request's wait is the time that this turn has taken so far: no request need be followed, and a burst is noticed with its
 * first request that waits, not by a sample later. The first of a turn is never late, so that something is always taken up.
 */
export function createLateness(options: LatenessOptions): () => boolean {
  const {
    maxWaitMs,
    now = performance.now.bind(performance),
    idle = idleMs,
    atTurnEnd = setImmediate,
  } = options
  let isInTurn = false
  let turnStartedAt = Number.NEGATIVE_INFINITY
  let busySince = Number.NEGATIVE_INFINITY
  let idleBefore = Number.NEGATIVE_INFINITY

  function endTurn(): void {
    isInTurn = false
    // What comes before the next request, such as the answers of node and disk, is a part of its wait.
    turnStartedAt = now()
  }

  function startTurn(at: number): void {
    isInTurn = true
    atTurnEnd(endTurn)
    const idleNow = idle()
    if (idleNow > idleBefore) {
      turnStartedAt = at
      busySince = at
    }
    idleBefore = idleNow
  }

  return () => {
    const at = now()
    if (!isInTurn) {
      startTurn(at)
      return false
    }
    return at - turnStartedAt > maxWaitMs && at - busySince > WITHOUT_REST_MS
  }
}
