import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { isFinal, receiptSchema } from '../../protocol/api.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { inBatches } from '../async/inBatches.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createOpenIds } from './openIds.js'
import { createFileRecordStore } from './recordStore.js'

/** Nodes refuse longer transactions. */
const MAX_TRANSACTION_BYTES = 131_072

/** Files open at once while many are read: a process may hold only so many. */
const READ_AT_ONCE = 64

/** A transaction signed by the relayer's account. It is on disk before the first node has seen it. */
const signedTransactionSchema = z.strictObject({
  nonce: z.int().min(0),
  hash: bytes32Schema,
  /** What `eth_sendRawTransaction` takes. */
  raw: hexBetween(1, MAX_TRANSACTION_BYTES),
})
export type SignedTransaction = z.output<typeof signedTransactionSchema>

/** The same, with its bytes only as long as it may be sent again: looked for it is by its hash. */
const keptTransactionSchema = signedTransactionSchema.partial({ raw: true })
export type KeptTransaction = z.output<typeof keptTransactionSchema>

const order = { orderId: bytes32Schema, account: addressSchema }

/**
 * What an authorization's gas is for, and on whose quota it counts.
 * - `hold`: writes a portfolio for an open order, which begins to hold the order unless it is held already
 * - `finish`: ends an order that is held
 * - `account`: refunds an order that was never held, or pays a withdrawal
 * - `institution`: publishes a rulebook
 * - `platform`: mints or burns
 */
export const gasPurposeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hold'), ...order }),
  z.strictObject({ kind: z.literal('finish'), ...order }),
  z.strictObject({ kind: z.literal('account'), account: addressSchema }),
  z.strictObject({ kind: z.literal('institution'), orgId: bytes32Schema }),
  z.strictObject({ kind: z.literal('platform') }),
])
export type GasPurpose = z.output<typeof gasPurposeSchema>

const relayRecordSchema = z.strictObject({
  /** What callers see. */
  receipt: receiptSchema,
  /** Calldata for the receipt's target, from which a transaction can be signed again. */
  data: hexBetween(4, MAX_TRANSACTION_BYTES),
  purpose: gasPurposeSchema,
  /** Every transaction that may have reached a node, oldest first: any of them may be the one that is mined. */
  transactions: z.array(keptTransactionSchema),
})
/** All that the relay knows of one authorization. */
export type RelayRecord = z.output<typeof relayRecordSchema>

/** Relay records by the authorization's digest. Every method rejects with StorageError. */
export interface ReceiptStore {
  get(digest: Hex): Promise<RelayRecord | undefined>
  /**
   * Durable when it resolves. The first version is not there when it rejects: nobody was promised that it would be. The
   * caller keeps others from putting the same digest meanwhile.
   */
  put(digest: Hex, record: RelayRecord): Promise<void>
  /** What an earlier process left unfinished, without reading the rest. For the start. */
  unfinished(): Promise<RelayRecord[]>
}

/**
 * Records as files: `receipts/open/<digest>.json`, renamed to `receipts/<2 hex>/<digest>.json` once it is final, so
 * that a start reads only what is open. Where both exist the open one is the newer: it is final and not moved yet,
 * or was taken up again after it had failed.
 */
export function createReceiptStore(options: { files: AtomicFiles; logger: Logger }): ReceiptStore {
  const shared = { ...options, schema: relayRecordSchema }
  const open = createFileRecordStore({ ...shared, directory: 'receipts/open', sharded: false })
  const done = createFileRecordStore({ ...shared, directory: 'receipts', sharded: true })
  const openIds = createOpenIds(open)

  async function getOpen(digest: Hex): Promise<RelayRecord | undefined> {
    if (!(await openIds.has(digest))) return undefined
    const record = await open.get(digest)
    // Its file was set aside: the next version makes a new one.
    if (record === undefined) await openIds.delete(digest)
    return record
  }

  /** A file is there, too, when only the sync of its directory has failed: the next start would send what it holds. */
  async function create(digest: Hex, record: RelayRecord): Promise<void> {
    try {
      await open.put(digest, record)
    } catch (error) {
      await open.delete(digest).catch(() => undefined)
      throw error
    }
    await openIds.add(digest)
  }

  async function finish(digest: Hex): Promise<void> {
    await open.move(digest, done)
    await openIds.delete(digest)
  }

  /** The record if it is unfinished; moved where it belongs if a killed process had no time to. */
  async function readUnfinished(digest: Hex): Promise<RelayRecord[]> {
    const record = await getOpen(digest)
    if (record === undefined) return []
    if (!isFinal(record.receipt)) return [record]
    await finish(digest)
    return []
  }

  return {
    get: async (digest) => (await getOpen(digest)) ?? done.get(digest),
    async put(digest, record) {
      if (await openIds.has(digest)) await open.append(digest, record)
      else await create(digest, record)
      if (isFinal(record.receipt)) await finish(digest)
    },
    async unfinished() {
      const found = await inBatches(await openIds.all(), READ_AT_ONCE, readUnfinished)
      return found.flat()
    },
  }
}
