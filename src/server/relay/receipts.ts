import type { Receipt, Revert } from '../../protocol/api.js'
import type { KeptTransaction, RelayRecord, SignedTransaction } from '../store/receipts.js'
import type { VerifiedAuthorization } from './authorization.js'
import type { MinedTransaction } from './mined.js'

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
