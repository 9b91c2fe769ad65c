import type { Revert } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { isFinal, type Receipt } from '../../protocol/relayReceipt.js'
import { createKeyedLock } from '../../service/keyedLock.js'
import type { KeptTransaction, SignedTransaction } from '../signer/transaction.js'
import { NO_GAS, type ReceiptStore, type RelayRecord, type StoredRelay } from '../store/receipts.js'
import type { MinedTransaction } from '../txManager/pendingTx.js'
import type { VerifiedAuthorization } from './authorization.js'
import type { GasBudget } from './gasBudget.js'

/** Another server has changed the stored record since it was read here, and relays the authorization now. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError'
}

/**
 * The record of an authorization that nothing has been sent for yet.
 * @param account undefined until it is assigned to one
 * @param earlier the failed one that it is to replace
 */
export function pendingRecord(
  { digest, primaryType, target, data, purpose }: VerifiedAuthorization,
  account?: Hex,
  earlier?: RelayRecord,
): RelayRecord {
  const at = new Date().toISOString()
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
  const { gas } = earlier ?? { gas: NO_GAS }
  return {
    receipt,
    ...(account !== undefined && { account }),
    data,
    purpose,
    gas,
    transactions: hashesOf(earlier?.transactions ?? []),
  }
}

export function withLimit(record: RelayRecord, setAside: bigint): RelayRecord {
  return { ...record, gas: { ...record.gas, setAside } }
}

/** Earlier transactions, by their hashes alone: to find their effect, and never to send them again. */
function hashesOf(transactions: readonly KeptTransaction[]): KeptTransaction[] {
  return transactions.map(({ hash }) => ({ hash }))
}

/** The record, assigned to `account`: it starts again where another account has sent a transaction for it. */
export function assignedTo(record: RelayRecord, account: Hex): RelayRecord {
  if (record.account === account) return record
  const open = isFinal(record.receipt) ? record : changed(record, { status: 'pending', txHash: null })
  return { ...open, account, transactions: hashesOf(record.transactions) }
}

/** Adds a transaction that is about to be broadcast. Transactions under other nonces lose their bytes and are not sent again. */
export function submitted(record: RelayRecord, transaction: SignedTransaction): RelayRecord {
  return {
    ...changed(record, { status: 'submitted', txHash: transaction.hash }),
    transactions: [...record.transactions.map((earlier) => kept(earlier, transaction.nonce)), transaction],
  }
}

function kept(transaction: KeptTransaction, nonce: number): KeptTransaction {
  const { raw: _, ...rest } = transaction
  return transaction.nonce === nonce ? transaction : rest
}

/** @param transaction null when its effect came from a transaction that this server does not know */
export function confirmed(record: RelayRecord, transaction: MinedTransaction | null): RelayRecord {
  return changed(record, { status: 'confirmed', ...minedFields(transaction), error: null })
}

/** @param transaction null when it was given up before any of its transactions was mined */
export function failed(
  record: RelayRecord,
  transaction: MinedTransaction | null,
  error: Revert,
): RelayRecord {
  return changed(record, { status: 'failed', ...minedFields(transaction), error })
}

/** Its effect came from another party's transaction, in a block that may still be reorganized away. */
export function awaitingDepth(record: RelayRecord): RelayRecord {
  return changed(record, { status: 'pending', ...minedFields(null), error: null })
}

/** Reopens a final record whose transaction is no longer in its block. */
export function reopened(record: RelayRecord): RelayRecord {
  const txHash = record.transactions.at(-1)?.hash ?? null
  return changed(record, { status: 'submitted', ...minedFields(null), txHash, error: null })
}

/** The transactions that were sent and are not known to be mined. */
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

function changed(record: RelayRecord, change: Partial<Receipt>): RelayRecord {
  const receipt = { ...record.receipt, ...change, updatedAt: new Date().toISOString() }
  // Nothing more is sent for it.
  return isFinal(receipt) ? { ...withLimit(record, 0n), receipt } : { ...record, receipt }
}

export type JobRecord = ReturnType<typeof createJobRecord>

/** More failures in a row are rare. Where one that is not kept was written, the job counts as superseded. */
const MAX_DOUBTFUL = 100

/**
 * Each version replaces the one that was read or written before. Another server's version in that place is never
 * written over.
 */
export function createJobRecord(
  store: Pick<ReceiptStore, 'find' | 'isSame'>,
  budget: Pick<GasBudget, 'put'>,
  stored: StoredRelay,
) {
  const { digest } = stored.record.receipt
  const writes = createKeyedLock()
  let { record, version } = stored
  /** Versions whose writes failed, and may happen all the same, even after the next read. */
  let doubtful: RelayRecord[] = []

  /** Goes on from a doubtful version that is stored by now. @returns whether one is */
  async function resolveDoubt(): Promise<boolean> {
    const found = doubtful.length > 0 ? await store.find(digest) : undefined
    const written = doubtful.find(
      (each) => found?.version === version + 1 && store.isSame(found.record, each),
    )
    if (written === undefined) return false
    record = written
    version++
    doubtful = []
    return true
  }

  async function replace(next: RelayRecord, bookable?: bigint): Promise<void> {
    await resolveDoubt()
    if (doubtful.length < MAX_DOUBTFUL) doubtful.push(next)
    if (await budget.put(next, { record, version }, bookable)) return
    doubtful = doubtful.filter((each) => each !== next)
    if (!(await resolveDoubt())) throw new SupersededError()
    await replace(next, bookable)
  }

  return {
    current: () => record,
    /**
     * Writes a next version, one after another, so that an older version never replaces a signed transaction. Durable when it resolves.
     * @throws as `GasBudget.put`; SupersededError
     */
    put: (next: RelayRecord, bookable?: bigint): Promise<void> =>
      writes.run(digest, async () => {
        await replace(next, bookable)
        record = next
        version++
        doubtful = []
      }),
  }
}
