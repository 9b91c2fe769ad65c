import { MAX_TIMER_MS } from '../../protocol/timeLimit.js'

/** Hands out turns to start runs, no more often than the enclave's runtime allows. */
export type TriggerRateLimit = ReturnType<typeof createTriggerRateLimit>

/**
 * Uses the monotonic clock, so moving the system clock back cannot stall the queue.
 *
 * @param intervalMs least time between two turns; 0 lets every caller through immediately
 */
export function createTriggerRateLimit(intervalMs: number) {
  const queue: (() => void)[] = []
  /** Milliseconds of `performance.now()`. */
  let freeAt = 0
  let timer: NodeJS.Timeout | undefined

  function advance(): void {
    clearTimeout(timer)
    while (queue.length > 0) {
      const wait = freeAt - performance.now()
      if (wait > 0) {
        timer = setTimeout(advance, Math.min(wait, MAX_TIMER_MS))
        timer.unref()
        return
      }
      freeAt = performance.now() + intervalMs
      queue.shift()?.()
    }
  }

  return {
    /** Resolves at the caller's turn; false when it does not come within `ms`. Turns are in the order of asking. */
    acquire: (ms?: number) =>
      new Promise<boolean>((resolve) => {
        const enter = () => {
          clearTimeout(limit)
          resolve(true)
        }
        const giveUp = () => {
          queue.splice(queue.indexOf(enter), 1)
          resolve(false)
        }
        const limit =
          ms === undefined ? undefined : setTimeout(giveUp, Math.min(Math.max(0, ms), MAX_TIMER_MS))
        limit?.unref()
        queue.push(enter)
        advance()
      }),
    /** Counts a run that an earlier server triggered. @param at Unix milliseconds */
    note(at: number) {
      // A time in the future is from before the clock was set back.
      const since = Math.max(0, Date.now() - at)
      freeAt = Math.max(freeAt, performance.now() + intervalMs - since)
    },
    /** Gives no turn for as long as the runtime asks. */
    hold(ms: number) {
      freeAt = Math.max(freeAt, performance.now() + ms)
    },
  }
}
