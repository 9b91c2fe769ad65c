import * as z from 'zod'
import { openedByCall } from '../../chain/openingCall.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import { isFinal, type Receipt, receiptSchema } from '../../protocol/relayReceipt.js'
import { uint256Schema } from '../../protocol/units.js'
import type { Logger } from '../../service/logger.js'
import {
  keptTransactionSchema,
  MAX_TRANSACTION_BYTES,
  type SignedTransaction,
  signedTransactionSchema,
} from '../signer/transaction.js'
import { createDocuments, type StoredEntry } from './documents.js'
import type { Engine } from './engine.js'

const order = { orderId: bytes32Schema, account: addressSchema }

/**
 * The purpose of an authorization's gas, and the quota on which it counts.
 * - `hold`: writes a portfolio for an open order, and writes it ahead unless it is already
 * - `finish`: ends an order that was written ahead
 * - `account`: opens an order, refunds one that was never written ahead, or pays a withdrawal
 * - `institution`: publishes a rulebook
 * - `platform`: mints, burns, or moves a portfolio that the owner has approved
 */
const gasPurposeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hold'), ...order }),
  z.strictObject({ kind: z.literal('finish'), ...order }),
  z.strictObject({ kind: z.literal('account'), account: addressSchema }),
  z.strictObject({ kind: z.literal('institution'), orgId: bytes32Schema }),
  z.strictObject({ kind: z.literal('platform') }),
])
export type GasPurpose = z.output<typeof gasPurposeSchema>

const relayGasSchema = z.strictObject({
  /** Its limit, from before its first signature to its end. */
  setAside: uint256Schema,
  /** The gas of its mined transactions, and the limit of each that may be mined without our finding it. */
  used: uint256Schema,
  /** The part of that which counts on no quota. */
  excused: uint256Schema,
})
/** The gas of one authorization that has none yet. */
export const NO_GAS: z.output<typeof relayGasSchema> = { setAside: 0n, used: 0n, excused: 0n }

/** Exported for tests, which read records as they are stored. */
export const relayRecordSchema = z.strictObject({
  receipt: receiptSchema,
  /** The relayer's account that it is assigned to; an earlier one after a change of the key. Undefined until a server that serves the account claims it. */
  account: z.optional(addressSchema),
  /** Calldata for the receipt's target, from which a transaction can be signed again. */
  data: hexBetween(4, MAX_TRANSACTION_BYTES),
  purpose: gasPurposeSchema,
  gas: relayGasSchema,
  /** Every transaction that may have reached a node, oldest first: any of them may be the one that is mined. */
  transactions: z.array(keptTransactionSchema),
})
export type RelayRecord = z.output<typeof relayRecordSchema>

export interface StoredRelay {
  readonly record: RelayRecord
  readonly version: number
}

const UNCLAIMED = 'unclaimed:'

/** Relay records by the authorization's digest. Every method rejects with StorageError. */
export type ReceiptStore = ReturnType<typeof createReceiptStore>

/** @param options.engine for the server that holds an account, the one whose writes have the term of its lease */
export function createReceiptStore(options: { readonly engine: Engine; readonly logger: Logger }) {
  const documents = createDocuments({ ...options, table: 'relays', schema: relayRecordSchema })
  const toStored = ({ value, version }: StoredEntry<RelayRecord>): StoredRelay => ({ record: value, version })
  const textOf = (record: RelayRecord) => JSON.stringify(z.encode(relayRecordSchema, record))
  return {
    get: (digest: Hex) => documents.get(digest),
    async find(digest: Hex): Promise<StoredRelay | undefined> {
      const found = await documents.find(digest)
      return found && toStored(found)
    },
    /** Puts a record in the place of `version`, 0 for none, as a part of a transaction. */
    toChange: (record: RelayRecord, version: number) =>
      documents.toPut(record.receipt.digest, version, {
        value: record,
        isOpen: !isFinal(record.receipt),
        uniqueKey: record.account === undefined ? `${UNCLAIMED}${record.receipt.digest}` : null,
      }),
    /** Whether both are stored as the same text. */
    isSame: (one: RelayRecord, other: RelayRecord) => textOf(one) === textOf(other),
    unfinished: async () => (await documents.openEntries()).map(toStored),
    /** Those of them that wait for an account. */
    unclaimed: async (limit: number) => (await documents.openWithKey(UNCLAIMED, limit)).map(toStored),
  }
}

const noOpSchema = z.array(signedTransactionSchema)

/**
 * Saves no-op transactions that fill nonce gaps, by account and nonce. Each is durable when the promise resolves. It rejects
 * with StorageError, also once another server has the account.
 */
export function createSaveNoOp(options: {
  /** Its writes have the term of the account's lease. */
  readonly engine: Engine
  readonly address: Hex
  readonly logger: Logger
}): (transaction: SignedTransaction) => Promise<void> {
  const { address, engine, logger } = options
  const documents = createDocuments({ engine, logger, table: 'state', schema: noOpSchema })
  return (transaction) =>
    documents.change(`no-op:${address}:${transaction.nonce}`, (current) => ({
      value: [...(current?.value ?? []), transaction],
      isOpen: false,
    }))
}

const openingRecordSchema = z.strictObject({
  digest: bytes32Schema,
  at: z.iso.datetime(),
})
export type OpeningRecord = z.output<typeof openingRecordSchema>

/** Characters of an order id's first 16 bytes, `0x` included. */
const PREFIX_CHARS = 34

/**
 * The opening that the servers send for an order's id: one at a time, by the id's first 16 bytes, which the escrow accepts once. Rejects
 * with StorageError.
 */
export type OpeningRecords = ReturnType<typeof createOpeningRecords>

export function createOpeningRecords(options: {
  readonly engine: Engine
  readonly receipts: Pick<ReceiptStore, 'get'>
  readonly logger: Logger
}) {
  const documents = createDocuments({ ...options, table: 'state', schema: openingRecordSchema })
  const nameOf = (orderId: Hex) => `opening:${orderId.slice(0, PREFIX_CHARS)}`
  return {
    /** The receipt of the opening that the relay sends, or has sent last, for this order. */
    async receiptOf(orderId: Hex): Promise<Receipt | undefined> {
      const claim = await documents.get(nameOf(orderId))
      const record = claim && (await options.receipts.get(claim.digest))
      // The claim is by the id's first 16 bytes, which another order may share.
      return record && openedByCall(record.data)?.orderId === orderId ? record.receipt : undefined
    },
    /**
     * @param isOver whether the earlier opening of the id can have no effect any more, or has had it
     * @returns whether the opening may be sent. Durable when it resolves
     */
    async claim(
      orderId: Hex,
      digest: Hex,
      isOver: (earlier: OpeningRecord) => Promise<boolean>,
    ): Promise<boolean> {
      let isClaimed = false
      await documents.change(nameOf(orderId), async (current) => {
        isClaimed = current === undefined || current.value.digest === digest || (await isOver(current.value))
        if (!isClaimed || current?.value.digest === digest) return undefined
        return { value: { digest, at: new Date().toISOString() }, isOpen: false }
      })
      return isClaimed
    },
  }
}
