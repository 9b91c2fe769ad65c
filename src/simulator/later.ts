/** Schedules delayed actions, and cancels pending ones when stopped. */
export function createLater() {
  const timers = new Set<NodeJS.Timeout>()
  return {
    /** Runs at once without a delay. */
    after(delayMs: number | undefined, act: () => void): void {
      if (!delayMs) {
        act()
        return
      }
      const timer = setTimeout(() => {
        timers.delete(timer)
        act()
      }, delayMs)
      timers.add(timer)
    },
    stop(): void {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}

export type Later = ReturnType<typeof createLater>
