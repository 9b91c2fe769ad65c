/** Runs actions one after another per key, and those of different keys side by side. Not re-entrant. */
export function createKeyedLock() {
  const tails = new Map<string, Promise<void>>()
  return {
    async run<T>(key: string, action: () => Promise<T>): Promise<T> {
      const before = tails.get(key)
      const result = before === undefined ? action() : before.then(action)
      const tail = result.then(
        () => undefined,
        () => undefined,
      )
      tails.set(key, tail)
      try {
        return await result
      } finally {
        // The last action of a key removes its entry, so that the map holds only keys with actions under way.
        if (tails.get(key) === tail) tails.delete(key)
      }
    },
  }
}

export type KeyedLock = ReturnType<typeof createKeyedLock>
