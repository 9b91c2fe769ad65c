/** Lets a limited number in at a time; the others wait in order of arrival. */
export interface Slots {
  take(): Promise<void>
  release(): void
}

export function createSlots(count: number): Slots {
  let free = count
  const waiting: (() => void)[] = []
  return {
    async take() {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    release() {
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    },
  }
}
