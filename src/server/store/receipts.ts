import { z } from 'zod'
import { receiptSchema } from '../../protocol/api.js'
import { bytes32Schema, hexBetween } from '../../protocol/hex.js'
import type { Logger } from '../logger.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createFileRecordStore, type RecordStore } from './recordStore.js'

/** Nodes refuse longer transactions. */
const MAX_TRANSACTION_BYTES = 131_072

/** A transaction signed by the relayer's account. It is on disk before the first node has seen it. */
const signedTransactionSchema = z.strictObject({
  nonce: z.int().min(0),
  hash: bytes32Schema,
  /** What `eth_sendRawTransaction` takes. */
  raw: hexBetween(1, MAX_TRANSACTION_BYTES),
})
export type SignedTransaction = z.output<typeof signedTransactionSchema>

const relayRecordSchema = z.strictObject({
  /** What callers see. */
  receipt: receiptSchema,
  /** Calldata for the receipt's target, from which a transaction can be signed again. */
  data: hexBetween(4, MAX_TRANSACTION_BYTES),
  /** Every transaction that may have reached a node, oldest first: any of them may be the one that is mined. */
  transactions: z.array(signedTransactionSchema),
})
/** All that the relay knows of one authorization. */
export type RelayRecord = z.output<typeof relayRecordSchema>

/** Relay records by the authorization's digest. */
export type ReceiptStore = RecordStore<RelayRecord>

export function createReceiptStore(options: { files: AtomicFiles; logger: Logger }): ReceiptStore {
  return createFileRecordStore({
    ...options,
    directory: 'receipts',
    sharded: true,
    schema: relayRecordSchema,
  })
}
