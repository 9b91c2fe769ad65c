/** Makes the entries of a directory durable. */
export type SyncDirectory = (path: string) => Promise<void>

/**
 * Lets those who wait for the same directory share a sync: one that begins after an entry was changed makes that
 * change durable, whoever asked for it. So there is at most one under way per directory, and one that waits for it.
 *
 * @param sync what it costs each time: opening, fsync, closing
 */
export function createDirectorySync(sync: SyncDirectory): SyncDirectory {
  const waiting = new Map<string, Promise<void>>()
  const running = new Map<string, Promise<void>>()

  async function start(path: string): Promise<void> {
    const mine = sync(path)
    running.set(path, mine)
    try {
      await mine
    } finally {
      running.delete(path)
    }
  }

  async function startAfter(path: string, before: Promise<void>): Promise<void> {
    // Whether it failed is its own callers' business.
    await before.catch(() => undefined)
    waiting.delete(path)
    await start(path)
  }

  return (path) => {
    const shared = waiting.get(path)
    if (shared !== undefined) return shared
    const before = running.get(path)
    if (before === undefined) return start(path)
    const next = startAfter(path, before)
    waiting.set(path, next)
    return next
  }
}
