import { createSemaphore } from '../../service/semaphore.js'
import { withTimeout } from '../../service/waiting.js'

/** Hands out turns to start runs, no more often than the enclave's runtime allows. */
export type TriggerRateLimit = ReturnType<typeof createTriggerRateLimit>

/**
 * Uses the monotonic clock, so moving the system clock back cannot stall the queue.
 *
 * @param intervalMs least time between two turns; 0 lets every caller through immediately
 */
export function createTriggerRateLimit(intervalMs: number) {
  const line = createSemaphore(1)
  /** Milliseconds of `performance.now()`. */
  let freeAt = 0

  /** Whether a turn comes before the deadline. */
  async function untilFree(deadline: number): Promise<boolean> {
    for (let now = performance.now(); now < freeAt; now = performance.now()) {
      if (now >= deadline) return false
      await withTimeout(new Promise(() => undefined), Math.min(freeAt, deadline) - now)
    }
    return true
  }

  return {
    /** Resolves at the caller's turn; false when it does not come within `ms`. Turns are in the order of asking. */
    async acquire(ms = Number.POSITIVE_INFINITY): Promise<boolean> {
      const deadline = performance.now() + ms
      if (!(await line.acquire(ms))) return false
      const isTurn = await untilFree(deadline)
      if (isTurn) freeAt = performance.now() + intervalMs
      line.release()
      return isTurn
    },
    /** Counts a run that an earlier server triggered. @param at Unix milliseconds */
    note(at: number) {
      // A time in the future is from before the clock was set back.
      const since = Math.max(0, Date.now() - at)
      freeAt = Math.max(freeAt, performance.now() + intervalMs - since)
    },
    /** Gives no turn for as long as the runtime asks. */
    pauseFor(ms: number) {
      freeAt = Math.max(freeAt, performance.now() + ms)
    },
  }
}
