// Bodies of the HTTP API. One schema both ways: the server encodes with it, clients and the enclave parse with it.
import * as z from 'zod'
import { addressSchema } from './address.js'
import { PRIMARY_TYPES } from './authorizationTypes.js'
import { orderEnvelopeSchema } from './envelope.js'
import { feeSchema } from './fees.js'
import { bytes32Schema, type Hex } from './hex.js'
import { chainIdSchema, symbolSchema } from './identifiers.js'
import { enclaveBootSchema, outcomeSchema, runIdSchema, waitReasonSchema } from './job.js'
import { publicKeySchema } from './publicKey.js'
import { uint256Schema } from './units.js'

const timeSchema = z.iso.datetime()
const count = z.int().min(0)

export const enclaveKeySchema = z.object({
  publicKey: publicKeySchema,
  chainId: chainIdSchema,
  escrow: addressSchema,
  scheme: z.string(),
  usdc: addressSchema,
})
export type EnclaveKey = z.output<typeof enclaveKeySchema>

export const postOrderSchema = z.strictObject({ orderId: bytes32Schema, ...orderEnvelopeSchema.shape })
export type PostOrder = z.output<typeof postOrderSchema>

export const orderReceivedSchema = z.object({
  orderId: bytes32Schema,
  result: z.enum(['received', 'already-received']),
  /** `keccak256(ct)` of the envelope that is stored: compare it with your own. */
  commit: bytes32Schema,
  receivedAt: timeSchema,
})
export type OrderReceived = z.output<typeof orderReceivedSchema>

export const orderStateSchema = z.enum(['NONE', 'OPEN', 'SETTLED', 'REFUNDED'])
export type OrderState = z.output<typeof orderStateSchema>

/** Why a run was started. */
export const triggerReasonSchema = z.enum(['received', 'retry', 'restart', 'recovered', 'reclaimed'])
export type TriggerReason = z.output<typeof triggerReasonSchema>

export const triggerSchema = z.object({
  /** 1 for an order's first run. */
  attempt: z.int().positive(),
  reason: triggerReasonSchema,
  startedAt: timeSchema,
  finishedAt: timeSchema.nullable(),
  outcome: outcomeSchema.nullable(),
  /** With `queued`, where it is not market or broker that the order waits for. */
  waitsFor: waitReasonSchema.optional(),
})
export type TriggerRecord = z.output<typeof triggerSchema>

/** Unlike the envelope that is posted, one that is answered may have further members. */
export const sealedNoticeSchema = z.object(orderEnvelopeSchema.shape)

export const orderStatusSchema = z.object({
  orderId: bytes32Schema,
  state: orderStateSchema,
  /** Null while the escrow is not on chain; USDC base units in `amount`. */
  account: addressSchema.nullable(),
  amount: uint256Schema.nullable(),
  deadline: timeSchema.nullable(),
  commit: bytes32Schema.nullable(),
  /** Null when no envelope is in the cache. */
  receivedAt: timeSchema.nullable(),
  triggers: z.array(triggerSchema),
  nextTriggerAt: timeSchema.nullable(),
  /** Why it was refused, or what its fill came to, sealed to the employee. */
  notice: sealedNoticeSchema.nullable(),
})
export type OrderStatus = z.output<typeof orderStatusSchema>

export const receiptStatusSchema = z.enum(['pending', 'submitted', 'confirmed', 'failed'])

const run = { at: timeSchema, attempt: z.int().positive() }
const onChain = { at: timeSchema, txHash: bytes32Schema, blockNumber: count }

/** One thing that happened to an order. `at` is the server's clock, and the block's time where there is a block. */
export const timelineEntrySchema = z.discriminatedUnion('kind', [
  /** The server stored the envelope. */
  z.object({ kind: z.literal('received'), at: timeSchema, commit: bytes32Schema }),
  /** An enclave run began. */
  z.object({ kind: z.literal('triggered'), ...run, reason: triggerReasonSchema }),
  /** It ended. */
  z.object({
    kind: z.literal('outcome'),
    ...run,
    outcome: outcomeSchema,
    waitsFor: waitReasonSchema.optional(),
  }),
  /** The relay took on an authorization that ends the order, and is this far with it. */
  z.object({
    kind: z.literal('relayed'),
    at: timeSchema,
    digest: bytes32Schema,
    status: receiptStatusSchema,
  }),
  /** The transaction for it, sent or in a block; its `status` is never `pending`. */
  z.object({
    kind: z.literal('transaction'),
    at: timeSchema,
    digest: bytes32Schema,
    txHash: bytes32Schema,
    status: receiptStatusSchema.exclude(['pending']),
    /** Null while it is in no block. */
    blockNumber: count.nullable(),
  }),
  /** The escrow's own events. */
  z.object({ kind: z.literal('opened'), ...onChain, event: z.literal('OrderOpened') }),
  z.object({ kind: z.literal('settled'), ...onChain, event: z.literal('OrderSettled') }),
  z.object({ kind: z.enum(['refunded', 'reclaimed']), ...onChain, event: z.literal('OrderRefunded') }),
])
export type TimelineEntry = z.output<typeof timelineEntrySchema>

export const timelineSchema = z.object({
  orderId: bytes32Schema,
  /** Oldest first. */
  entries: z.array(timelineEntrySchema),
})
export type Timeline = z.output<typeof timelineSchema>

export const policyVersionSchema = z.object({ orgId: bytes32Schema, version: count })
export type PolicyVersion = z.output<typeof policyVersionSchema>

/** The enclave's answer to a job; `already-accepted`: this very run was offered before. */
export const jobAcceptedSchema = z.object({
  runId: runIdSchema,
  result: z.enum(['accepted', 'already-accepted']),
  /** Absent where the program in front of the enclave cannot prove that an earlier process is over. */
  ...enclaveBootSchema.partial().shape,
})

/** The answer to a run's result or notice; `not-awaited`: the run is unknown, or is over. */
export const runResultReceivedSchema = z.object({
  runId: runIdSchema,
  result: z.enum(['received', 'not-awaited']),
})

export const walletSchema = z.object({
  address: addressSchema,
  /** `found` an institution, `wait` for clearance, or `trade`. */
  screen: z.enum(['found', 'wait', 'trade']),
  orgId: bytes32Schema.nullable(),
  /** `founder`: of an institution that the platform has not admitted; it has no admin yet. */
  role: z.enum(['admin', 'employee', 'founder']).nullable(),
  /** `admission`: the platform's owner has not admitted the institution, or has suspended it. */
  waitingFor: z.array(z.enum(['admission', 'kyc', 'policy'])),
  /** Unix seconds at which the wallet leaves its institution by itself; until then it buys nothing. */
  leavingAt: z.int().min(0).nullable(),
  /** An institution that the wallet may join, and the admin who invites: names can look alike, addresses do not. */
  invitation: z.object({ orgId: bytes32Schema, admin: addressSchema }).nullable(),
})
export type WalletView = z.output<typeof walletSchema>

export const institutionSchema = z.object({
  orgId: bytes32Schema,
  name: z.string().nullable(),
  admin: addressSchema,
  walletCount: count,
  rulesVersion: count,
  openOrders: count,
  /** Of the whole platform, never of one institution. */
  pool: z.object({
    usdc: uint256Schema,
    openOrders: count,
    equities: z.array(z.object({ symbol: symbolSchema, shares: uint256Schema })),
  }),
})
export type InstitutionView = z.output<typeof institutionSchema>

export const complianceSchema = z.object({
  address: addressSchema,
  equities: z.array(
    z.object({ symbol: symbolSchema, kyc: z.boolean(), listed: z.boolean(), frozen: z.boolean() }),
  ),
})
export type ComplianceView = z.output<typeof complianceSchema>

const price = uint256Schema.nullable()
export const marketSchema = z.object({
  asOf: timeSchema,
  stale: z.boolean(),
  /** Prices in USD with 6 decimals as base units; null where the provider has none. */
  symbols: z.array(
    z.object({
      symbol: symbolSchema,
      name: z.string(),
      price,
      previousClose: price,
      bid: price,
      ask: price,
      asOf: timeSchema.nullable(),
    }),
  ),
  /** What the broker charges, taken from the proceeds of sales. */
  fees: z.array(feeSchema),
})
export type MarketView = z.output<typeof marketSchema>

export const marketClockSchema = z.object({
  isOpen: z.boolean(),
  nextOpen: timeSchema,
  nextClose: timeSchema,
})
export type MarketClock = z.output<typeof marketClockSchema>

export const contractsSchema = z.object({
  institutionRegistry: addressSchema,
  orderEscrow: addressSchema,
  confidentialLedger: addressSchema,
  equityToken: addressSchema,
  platformPool: addressSchema,
})
/** Addresses of the five contracts. */
export type ContractAddresses = Record<keyof z.output<typeof contractsSchema>, Hex>

export const healthSchema = z.object({
  status: z.literal('ok'),
  version: z.string(),
  chainId: chainIdSchema,
  contracts: contractsSchema,
  symbols: z.array(symbolSchema),
  relayer: addressSchema,
})
export type Health = z.output<typeof healthSchema>

/** A contract error: its name, and its arguments as text. Two names are the server's own: see docs/errors.md. */
export const revertSchema = z.object({ name: z.string(), args: z.record(z.string(), z.string()) })
export type Revert = z.output<typeof revertSchema>

export const receiptSchema = z.object({
  digest: bytes32Schema,
  primaryType: z.enum(PRIMARY_TYPES),
  target: addressSchema,
  status: receiptStatusSchema,
  txHash: bytes32Schema.nullable(),
  blockNumber: count.nullable(),
  gasUsed: uint256Schema.nullable(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  error: revertSchema.nullable(),
})
/** The error of a receipt that failed without any gas for its call: every node that answers refuses the transaction. */
export const REFUSED_BY_NODES = 'RefusedByNodes'
/** The relay's record of one authorization. */
export type Receipt = z.output<typeof receiptSchema>

/** Whether nothing more becomes of it, as far as anybody can tell. */
export function isFinal({ status }: Pick<Receipt, 'status'>): boolean {
  return status === 'confirmed' || status === 'failed'
}

/** Who has a quota of the day's gas. */
export const quotaSchema = z.enum(['account', 'institution'])
export type Quota = z.output<typeof quotaSchema>

/** RFC 9457 problem details, with our `code` and `requestId`. */
export const problemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.string(),
  requestId: z.string(),
  /** With `would-revert`. */
  revert: revertSchema.optional(),
  /** With `relay-quota-exhausted`: whose quota is used up. */
  quota: quotaSchema.optional(),
})
export type ProblemBody = z.output<typeof problemSchema>
