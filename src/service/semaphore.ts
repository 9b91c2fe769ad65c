import { withTimeout } from './waiting.js'

/** Hands out a limited number of permits; callers wait in order of arrival. */
export function createSemaphore(permits: number) {
  const queue: (() => void)[] = []
  let free = permits

  function release(): void {
    // Passed to the next waiter directly, so that no later caller overtakes it.
    const next = free < 0 ? undefined : queue.shift()
    if (next === undefined) free++
    else next()
  }

  return {
    /** Call it once for each permit. */
    release,
    /** Acquires a permit whether or not one is free: for work that has already begun. */
    occupy(): void {
      free--
    },
    /** Resolves with true once there is a permit, and with false when there is none within `ms`. */
    async acquire(ms = Number.POSITIVE_INFINITY): Promise<boolean> {
      if (free > 0) {
        free--
        return true
      }
      let enter = () => {}
      const handedOn = new Promise<true>((resolve) => {
        enter = () => resolve(true)
        queue.push(enter)
      })
      if (ms === Number.POSITIVE_INFINITY) return handedOn
      if (await withTimeout(handedOn, ms)) return true
      const place = queue.indexOf(enter)
      // A permit that was handed on at the very last moment goes to the next caller.
      if (place === -1) release()
      else queue.splice(place, 1)
      return false
    },
  }
}
