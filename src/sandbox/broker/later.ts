export interface Later {
  /** At once where there is no delay. */
  after(delayMs: number | undefined, act: () => void): void
  stop(): void
}

/** What happens after a delay, unless it is stopped before. */
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
