import type { ReceiptStore, RelayRecord } from '../store/receipts.js'
import type { ChainView } from './chainView.js'
import { type Course, endedCourse } from './course.js'
import { awaitingDepth, confirmed } from './receipts.js'

export interface StoredReceiptsDeps {
  readonly store: Pick<ReceiptStore, 'put'>
  readonly chain: ChainView
  /** Takes up a record that is on disk. */
  readonly resume: (record: RelayRecord) => Course
}

/** Holds what is stored of an authorization against the chain. Every method rejects with ChainUnavailableError. */
export interface StoredReceipts {
  /**
   * Whether its transaction is where its receipt says. A chain that was reset knows nothing of one of before, or has it
   * elsewhere. What says that somebody else brought it about is true as long as none of its own transactions is found.
   */
  isTrue(record: RelayRecord): Promise<boolean>
  /**
   * Of what the chain says has taken effect, whatever was thought of it before. It is confirmed once it is deep enough.
   * @throws StorageError
   */
  acceptEffect(record: RelayRecord): Promise<Course>
}

export function createStoredReceipts({ store, chain, resume }: StoredReceiptsDeps): StoredReceipts {
  async function isTrue(record: RelayRecord): Promise<boolean> {
    const { status, txHash, blockNumber } = record.receipt
    if (status === 'confirmed' && txHash === null) return (await chain.effectOf(record)) === null
    if (txHash === null || blockNumber === null) return true
    const now = await chain.whereIs(txHash)
    if (now.blockNumber !== null) return now.blockNumber === blockNumber
    // A node that trails does not deny an effect, nor does one that finds no old transactions.
    return (status === 'confirmed' && now.head < blockNumber) || chain.isIn(blockNumber, txHash)
  }

  return {
    isTrue,
    async acceptEffect(record) {
      const { digest, target, status } = record.receipt
      if (status === 'confirmed' && (await isTrue(record))) return endedCourse(record)
      const isDeep = await chain.isDeep(target, digest)
      const next = isDeep
        ? confirmed(record, await chain.effectOf(record), new Date())
        : awaitingDepth(record, new Date())
      await store.put(digest, next)
      return isDeep ? endedCourse(next) : resume(next)
    },
  }
}
