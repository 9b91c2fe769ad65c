import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { FileRecordStore } from './recordStore.js'

/**
 * The ids of the open records of a store, in memory, so that nothing is looked for where it can't be: most posts bring
 * something new.
 * Read from the store at the first use. Every method rejects with StorageError until that has worked.
 */
export interface OpenIds {
  has(id: Hex): Promise<boolean>
  add(id: Hex): Promise<void>
  delete(id: Hex): Promise<void>
  all(): Promise<Hex[]>
}

/** @param onRead told of the ids that the store has, once they are read */
export function createOpenIds(
  store: Pick<FileRecordStore<unknown>, 'ids'>,
  onRead: (ids: Iterable<Hex>) => void = () => undefined,
): OpenIds {
  let reading: Promise<Set<Hex>> | undefined

  function ids(): Promise<Set<Hex>> {
    reading ??= read().catch((error: unknown) => {
      reading = undefined
      throw error
    })
    return reading
  }

  async function read(): Promise<Set<Hex>> {
    const found = await store.ids()
    const known = found.flatMap((id) => {
      const parsed = bytes32Schema.safeParse(id)
      return parsed.success && parsed.data === id ? [parsed.data] : []
    })
    onRead(known)
    return new Set(known)
  }

  return {
    has: async (id) => (await ids()).has(id),
    async add(id) {
      const known = await ids()
      known.add(id)
    },
    async delete(id) {
      const known = await ids()
      known.delete(id)
    },
    all: async () => [...(await ids())],
  }
}
