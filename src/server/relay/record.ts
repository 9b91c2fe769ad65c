import type { Receipt, Revert } from '../../protocol/api.js'
import { createKeyedLock } from '../../service/keyedLock.js'
import { createDeferred } from '../async/deferred.js'
import type { KeptTransaction, ReceiptStore, RelayRecord, SignedTransaction } from '../store/receipts.js'
import type { MinedTransaction } from '../txManager/pendingTx.js'
import type { VerifiedAuthorization } from './authorization.js'

/**
 * The record of an authorization that nothing has been sent for yet.
 *
 * @param earlier what was sent for the same digest before, on a chain that may come back
 */
export function pendingRecord(
  { digest, primaryType, target, data, purpose }: VerifiedAuthorization,
  now: Date,
  earlier: readonly KeptTransaction[] = [],
): RelayRecord {
  const at = now.toISOString()
  const receipt: Receipt = {
    digest,
    primaryType,
    target,
    status: 'pending',
    txHash: null,
    blockNumber: null,
    gasUsed: null,
    createdAt: at,
    updatedAt: at,
    error: null,
  }
  return { receipt, data, purpose, transactions: [...earlier] }
}

/** With one more transaction, which is about to be broadcast. What went out under other nonces is not sent again. */
export function submitted(record: RelayRecord, transaction: SignedTransaction, now: Date): RelayRecord {
  return {
    ...changed(record, now, { status: 'submitted', txHash: transaction.hash }),
    transactions: [...record.transactions.map((earlier) => kept(earlier, transaction.nonce)), transaction],
  }
}

function kept(transaction: KeptTransaction, nonce: number): KeptTransaction {
  return transaction.nonce === nonce ? transaction : { nonce: transaction.nonce, hash: transaction.hash }
}

/** @param transaction null when it took effect by a transaction that this server knows nothing of */
export function confirmed(record: RelayRecord, transaction: MinedTransaction | null, now: Date): RelayRecord {
  return changed(record, now, { status: 'confirmed', ...minedFields(transaction), error: null })
}

/** @param transaction null when it was given up before anything of it was mined */
export function failed(
  record: RelayRecord,
  transaction: MinedTransaction | null,
  error: Revert,
  now: Date,
): RelayRecord {
  return changed(record, now, { status: 'failed', ...minedFields(transaction), error })
}

/** It took effect without this server's doing, in a block that may still be taken back. */
export function awaitingDepth(record: RelayRecord, now: Date): RelayRecord {
  return changed(record, now, { status: 'pending', ...minedFields(null), error: null })
}

/** Of a final record that is true no more: what was mined for it may be mined again, or has to be. */
export function reopened(record: RelayRecord, now: Date): RelayRecord {
  const txHash = record.transactions.at(-1)?.hash ?? null
  return changed(record, now, { status: 'submitted', ...minedFields(null), txHash, error: null })
}

/** What was sent and is not known to be mined. */
export function unresolved({ receipt, transactions }: RelayRecord): readonly KeptTransaction[] {
  return receipt.status === 'submitted' ? transactions : []
}

function minedFields(transaction: MinedTransaction | null) {
  return {
    txHash: transaction?.hash ?? null,
    blockNumber: transaction?.blockNumber ?? null,
    gasUsed: transaction?.gasUsed ?? null,
  }
}

function changed(record: RelayRecord, now: Date, change: Partial<Receipt>): RelayRecord {
  return { ...record, receipt: { ...record.receipt, ...change, updatedAt: now.toISOString() } }
}

/** The record of a job, one version after another. */
export interface JobRecord {
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
export function createJobRecord(
  store: Pick<ReceiptStore, 'put'>,
  initial: RelayRecord,
  { isKept }: { isKept: boolean },
): JobRecord {
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
