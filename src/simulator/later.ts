export interface Later {
  /** Runs at once without a delay. */
  after(delayMs: number | undefined, act: () => void): void
  stop(): void
}

/** Schedules delayed actions, and cancels pending ones when stopped. */
export function createLater(): Later {
  const timers = new Set<NodeJS.Timeout>()
  return {
    after(delayMs, act) {
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
    stop() {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}
