import { performance } from 'node:perf_hooks'
import { idleMs } from './idleTime.js'

/** How long the process has had no rest before it counts as overloaded: a single long pause is none. */
const WITHOUT_REST_MS = 100

export interface QueueingDelayOptions {
  /** Longest wait, in milliseconds, before a request's turn. */
  readonly maxWaitMs: number
  /** Milliseconds of the monotonic clock. */
  readonly now?: () => number
  readonly idle?: typeof idleMs
  /** Calls back when all requests that had come as this turn of the event loop began are dealt with. */
  readonly atTurnEnd?: (ended: () => void) => void
}

/**
 * Measures each request's queueing delay when its turn comes.
 *
 * A request that arrives while the event loop is busy waits until the next turn, and in that turn for all that is before
 * it. So its queueing delay is the time that this turn has taken so far: no request need be followed, and a burst shows
 * with the first request that waits, not by a later sample. The first request of a turn is never late, so that the process
 * always takes up something.
 *
 * @returns whether the request comes too late: its delay exceeds `maxWaitMs`, and the process has had no rest for a while
 */
export function createQueueingDelay(options: QueueingDelayOptions): () => boolean {
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
    // Work before the next request, such as the answers of node and disk, is a part of its delay.
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
