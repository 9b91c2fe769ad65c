import { createKeyedLock } from '../../service/keyedLock.js'
import { createDeferred } from '../async/deferred.js'
import type { ReceiptStore, RelayRecord } from '../store/receipts.js'

/** The record of a course, one version after another. */
export interface CourseRecord {
  /** The newest version that is on disk; the first one before it is. */
  current(): RelayRecord
  /** Writes a next version. Durable when it resolves. @throws StorageError */
  put(next: RelayRecord): Promise<void>
  /** Writes the first version, unless one is on disk. @throws StorageError */
  keep(): Promise<void>
  /** Resolves when a version is on disk. Rejects when the first one that was written did not get there, and none will. */
  readonly kept: Promise<void>
}

/** @param isKept whether it comes from the disk */
export function createCourseRecord(
  store: Pick<ReceiptStore, 'put'>,
  initial: RelayRecord,
  { isKept }: { isKept: boolean },
): CourseRecord {
  const { digest } = initial.receipt
  const kept = createDeferred<void>()
  // Not everybody waits for it.
  kept.promise.catch(() => undefined)
  if (isKept) kept.resolve()
  const writes = createKeyedLock()
  let isOnDisk = isKept
  let refusal: { readonly error: unknown } | undefined
  let record = initial

  async function write(next: RelayRecord): Promise<void> {
    // Its caller has been told that nothing will be sent.
    if (refusal !== undefined) throw refusal.error
    try {
      await store.put(digest, next)
    } catch (error) {
      if (!isOnDisk) refusal = { error }
      if (!isOnDisk) kept.reject(error)
      throw error
    }
    record = next
    isOnDisk = true
    kept.resolve()
  }

  // One after another: what is signed is never written over by what was known before.
  return {
    current: () => record,
    put: (next) => writes.run(digest, () => write(next)),
    keep: () => writes.run(digest, async () => (isOnDisk ? undefined : write(record))),
    kept: kept.promise,
  }
}
