import { StatementError, StorageError, type WriteResult } from './engine.js'

interface Waiting<W> {
  readonly write: W
  readonly resolve: (result: WriteResult) => void
  readonly reject: (error: StorageError) => void
}

/**
 * Writes that travel together. Each group holds those of one turn of the event loop, or of the time in which the group before was
 * committed.
 *
 * @param commit answers each write for itself. When it rejects, nothing of the group has been written
 * @param keyOf orders the writes of a group; default: the order of the calls
 */
export function createGroups<W>(
  commit: (group: readonly W[]) => Promise<readonly WriteResult[]>,
  maxWrites: number,
  keyOf: (write: W) => string = () => '',
) {
  let waiting: Waiting<W>[] = []
  /** So many of the next ones travel alone. */
  let alone = 0
  let committing: Promise<void> | undefined

  async function commitAll(): Promise<void> {
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      const group = waiting.splice(0, alone > 0 ? 1 : maxWrites)
      alone = Math.max(0, alone - 1)
      const keyed = group.map((each) => ({ ...each, key: keyOf(each.write) }))
      await commitGroup(keyed.sort(({ key: a }, { key: b }) => (a === b ? 0 : a < b ? -1 : 1)))
    }
    committing = undefined
  }

  async function commitGroup(group: readonly Waiting<W>[]): Promise<void> {
    try {
      const results = await commit(group.map(({ write }) => write))
      for (const [index, { resolve }] of group.entries()) resolve(results[index] ?? 'conflict')
    } catch (error) {
      const failure = error instanceof StorageError ? error : new StorageError(error)
      const isOfOne = failure instanceof StatementError
      if (isOfOne && group.length > 1) {
        // One refused write rolls its whole group back, so each is tried alone: then only that one fails.
        waiting = [...group, ...waiting]
        alone += group.length
        return
      }
      for (const { reject } of group) reject(failure)
      // Writes that came meanwhile fail too where the medium does: each further group would wait as long before it failed.
      for (const { reject } of isOfOne ? [] : waiting.splice(0)) reject(failure)
    }
  }

  return {
    write: (write: W): Promise<WriteResult> =>
      new Promise((resolve, reject) => {
        waiting.push({ write, resolve, reject })
        committing ??= commitAll()
      }),
    async idle(): Promise<void> {
      while (committing !== undefined) await committing
    },
  }
}
