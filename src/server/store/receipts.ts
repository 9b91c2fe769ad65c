import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { isFinal, receiptSchema } from '../../protocol/api.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { createDocuments } from './documents.js'
import type { Engine, Fence } from './engine.js'

/** Nodes refuse longer transactions. */
const MAX_TRANSACTION_BYTES = 131_072

/** A transaction signed by the relayer's account. It is stored before the first node has seen it. */
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
  /** Durable when it resolves. The caller keeps others from putting the same digest at the same time. */
  put(digest: Hex, record: RelayRecord): Promise<void>
  /** The records that an earlier process left unfinished, without reading the rest. For the start. */
  unfinished(): Promise<RelayRecord[]>
}

export function createReceiptStore(options: {
  readonly engine: Engine
  /** Of the relayer's account. */
  readonly fence: Fence
  readonly logger: Logger
}): ReceiptStore {
  const documents = createDocuments({ ...options, table: 'relays', schema: relayRecordSchema })
  return {
    get: documents.get,
    put: (digest, record) => documents.put(digest, { value: record, isOpen: !isFinal(record.receipt) }),
    unfinished: documents.open,
  }
}

const noOpSchema = z.array(signedTransactionSchema)

/**
 * Saves transactions that close a gap of nonces and belong to no authorization, by account and nonce. Each is durable when the
 * promise resolves. It rejects with StorageError, also once another server has the account.
 */
export function createSaveNoOp(options: {
  readonly engine: Engine
  /** Of the relayer's account. */
  readonly fence: Fence
  readonly address: Hex
  readonly logger: Logger
}): (transaction: SignedTransaction) => Promise<void> {
  const { address, ...surroundings } = options
  const documents = createDocuments({ ...surroundings, table: 'state', schema: noOpSchema })
  return (transaction) =>
    documents.change(`filler:${address}:${transaction.nonce}`, (current) => ({
      value: [...(current?.value ?? []), transaction],
      isOpen: false,
    }))
}
