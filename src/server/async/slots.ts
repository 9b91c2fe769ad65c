import { within } from './waiting.js'

/** Lets a limited number in at a time; the others wait in order of arrival. */
export interface Slots {
  /** Resolves once there is room; false when there is none within `ms`. */
  take(ms?: number): Promise<boolean>
  /** Gets in whether or not there is room: for what is there already. */
  occupy(): void
  /** To be called once by everyone who got in. */
  leave(): void
  /** Whether whoever comes now would have to wait. */
  isFull(): boolean
  /** How many wait. */
  waiting(): number
}

export function createSlots(count: number): Slots {
  const queue: (() => void)[] = []
  let free = count

  function leave(): void {
    // Handed on by whoever leaves, so that nobody gets in between.
    const next = free < 0 ? undefined : queue.shift()
    if (next === undefined) free++
    else next()
  }

  return {
    leave,
    occupy() {
      free--
    },
    isFull: () => free <= 0,
    waiting: () => queue.length,
    async take(ms = Number.POSITIVE_INFINITY) {
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
      if (await within(handedOn, ms)) return true
      const place = queue.indexOf(enter)
      // A slot that was handed on at the very last moment goes to the next one.
      if (place === -1) leave()
      else queue.splice(place, 1)
      return false
    },
  }
}
