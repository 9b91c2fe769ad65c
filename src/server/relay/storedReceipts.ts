import type { Receipt } from '../../protocol/api.js'
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
  /** Whether its transaction is where it says. A chain that was reset knows nothing of one of before, or has it elsewhere. */
  isTrue(receipt: Receipt): Promise<boolean>
  /**
   * Of what the chain says has taken effect, whatever was thought of it before. It is confirmed once it is deep enough.
   * @throws StorageError
   */
  acceptEffect(record: RelayRecord): Promise<Course>
}

export function createStoredReceipts({ store, chain, resume }: StoredReceiptsDeps): StoredReceipts {
  async function isTrue({ status, txHash, blockNumber }: Receipt): Promise<boolean> {
    if (txHash === null || blockNumber === null) return true
    const now = await chain.whereIs(txHash)
    // A node that trails does not deny an effect: what is known of it would be lost for good.
    const isTrailing = status === 'confirmed' && now.blockNumber === null && now.head < blockNumber
    return now.blockNumber === blockNumber || isTrailing
  }

  return {
    isTrue,
    async acceptEffect(record) {
      const { digest, target, status } = record.receipt
      if (status === 'confirmed' && (await isTrue(record.receipt))) return endedCourse(record.receipt)
      const isDeep = await chain.isDeep(target, digest)
      const next = isDeep
        ? confirmed(record, await chain.effectOf(record), new Date())
        : awaitingDepth(record, new Date())
      await store.put(digest, next)
      return isDeep ? endedCourse(next.receipt) : resume(next)
    },
  }
}
