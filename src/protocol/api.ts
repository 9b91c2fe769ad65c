// Bodies of the HTTP API. The server encodes and the clients and the enclave parse with the same schema. A page loads all of this file, so what no
// page reads is elsewhere: `postedOrder.ts`, `relayReceipt.ts`, `job.ts`, `resolution.ts`, `postedAttestation.ts`.

import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { enclaveModeSchema } from './attestation.js'
import { orderEnvelopeSchema } from './envelopeForm.js'
import { feeSchema } from './fees.js'
import { bytes32Schema, type Hex } from './hex.js'
import { chainIdSchema, symbolSchema } from './identifiers.js'
import { outcomeSchema, waitReasonSchema } from './outcome.js'
import { uint256Schema } from './units.js'

/** Every path of the API, as Express writes it. A problem's `instance` is one of these, filled in, or empty. */
export const API_PATHS = [
  '/',
  '/docs',
  '/docs/:file',
  '/openapi.json',
  '/errors',
  '/health',
  '/health/checks',
  '/enclave-key',
  '/enclave-key/challenge',
  '/market',
  '/market/bars',
  '/market/clock',
  '/wallet/:address',
  '/org/:orgId',
  '/compliance/:address',
  '/orders',
  '/orders/:orderId',
  '/orders/:orderId/timeline',
  '/orders/:orderId/cancel',
  '/policy',
  '/policy/:orgId',
  '/resolutions',
  '/attestation',
  '/relay',
  '/relay/:digest',
  '/runs/:runId/result',
  '/runs/:runId/notice',
] as const
export type ApiPath = (typeof API_PATHS)[number]

const timeSchema = z.iso.datetime()
const count = z.int().check(z.minimum(0))

export const orderReceivedSchema = z.object({
  orderId: bytes32Schema,
  result: z.enum(['received', 'already-received']),
  /** `keccak256(ct)` of the stored envelope: compare it with your own. */
  commit: bytes32Schema,
  receivedAt: timeSchema,
})
export type OrderReceived = z.output<typeof orderReceivedSchema>

const orderStateSchema = z.enum(['NONE', 'OPEN', 'SETTLED', 'REFUNDED'])
export type OrderState = z.output<typeof orderStateSchema>

/** Why the server started a run. */
const triggerReasonSchema = z.enum(['received', 'retry', 'restart', 'recovered', 'reclaimed'])
export type TriggerReason = z.output<typeof triggerReasonSchema>

export const triggerSchema = z.object({
  /** 1 for an order's first run. */
  attempt: z.int().check(z.positive()),
  reason: triggerReasonSchema,
  startedAt: timeSchema,
  finishedAt: z.nullable(timeSchema),
  outcome: z.nullable(outcomeSchema),
  /** Set with `queued`, unless a fault of the broker holds the order up, or a write of its own that is too fresh on the chain. */
  waitsFor: z.optional(waitReasonSchema),
})
export type TriggerRecord = z.output<typeof triggerSchema>

export const receiptStatusSchema = z.enum(['pending', 'submitted', 'confirmed', 'failed'])
/** A contract error's name, and its arguments as text. The server defines two names itself: see docs/errors.md. */
export const revertSchema = z.object({ name: z.string(), args: z.record(z.string(), z.string()) })
export type Revert = z.output<typeof revertSchema>

const openingProgress = {
  status: receiptStatusSchema,
  /** Why it failed: the contract's error. Null unless it failed. */
  error: z.nullable(revertSchema),
}

/** Unlike a posted envelope, a returned one may have further members. */
export const sealedNoticeSchema = z.object(orderEnvelopeSchema.shape)

/** The shares that a deposit has in escrow, in base units (9 decimals). The chain shows them to everyone. */
export const depositSchema = z.object({ symbol: symbolSchema, shares: uint256Schema })

export const orderStatusSchema = z.object({
  orderId: bytes32Schema,
  state: orderStateSchema,
  /** Null while the escrow is not on chain. `amount` is in USDC base units: 0 for a request, and for a deposit of shares. */
  account: z.nullable(addressSchema),
  amount: z.nullable(uint256Schema),
  /** Absent unless the order is a deposit of shares. */
  deposit: z.optional(depositSchema),
  deadline: z.nullable(timeSchema),
  commit: z.nullable(bytes32Schema),
  /** Null if the server's cache holds no envelope. */
  receivedAt: z.nullable(timeSchema),
  triggers: z.array(triggerSchema),
  nextTriggerAt: z.nullable(timeSchema),
  /** Why the enclave refused the order, or its fill; sealed to the employee. */
  notice: z.nullable(sealedNoticeSchema),
  /** When the account's cancel came; absent without one. */
  cancelReceivedAt: z.optional(timeSchema),
  /** While the escrow is not on chain: how the relay fares with the opening that the account signed; absent without one. */
  opening: z.optional(z.object(openingProgress)),
})
export type OrderStatus = z.output<typeof orderStatusSchema>

/** Whether the order's escrow has reached its end. A reorganization may take it back. */
export function hasEnded({ state }: Pick<OrderStatus, 'state'>): boolean {
  return state === 'SETTLED' || state === 'REFUNDED'
}

/** Whether the notice of an ended order is still to come: the chain often has the end before the server has that of the run. */
export function isNoticeDue(status: Pick<OrderStatus, 'state' | 'notice' | 'triggers'>): boolean {
  const { notice, triggers } = status
  return hasEnded(status) && notice === null && triggers.some(({ finishedAt }) => finishedAt === null)
}

const run = { at: timeSchema, attempt: z.int().check(z.positive()) }
const onChain = { at: timeSchema, txHash: bytes32Schema, blockNumber: count }

/** One event of an order. `at` is the server's clock, or the block's time if there is a block. */
export const timelineEntrySchema = z.discriminatedUnion('kind', [
  /** The server stored the envelope. */
  z.object({ kind: z.literal('received'), at: timeSchema, commit: bytes32Schema }),
  /** The relay accepted the opening that the account signed. */
  z.object({ kind: z.literal('opening'), at: timeSchema, digest: bytes32Schema, ...openingProgress }),
  /** The server stored the account's cancel. */
  z.object({ kind: z.literal('cancel-received'), at: timeSchema }),
  /** An enclave run started. */
  z.object({ kind: z.literal('triggered'), ...run, reason: triggerReasonSchema }),
  /** The run ended. */
  z.object({
    kind: z.literal('outcome'),
    ...run,
    outcome: outcomeSchema,
    waitsFor: z.optional(waitReasonSchema),
  }),
  /** The relay accepted an authorization that ends the order; `status` is its progress. */
  z.object({
    kind: z.literal('relayed'),
    at: timeSchema,
    digest: bytes32Schema,
    status: receiptStatusSchema,
  }),
  /** The transaction of the authorization, sent or mined; its `status` is never `pending`. */
  z.object({
    kind: z.literal('transaction'),
    at: timeSchema,
    digest: bytes32Schema,
    txHash: bytes32Schema,
    status: z.enum(['submitted', 'confirmed', 'failed']),
    /** Null until the transaction is mined. */
    blockNumber: z.nullable(count),
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

export const walletSchema = z.object({
  address: addressSchema,
  /** `found` an institution, `wait` for clearance, or `trade`. */
  screen: z.enum(['found', 'wait', 'trade']),
  orgId: z.nullable(bytes32Schema),
  /** `founder`: founded an institution that the platform has not admitted; it has no admin yet. */
  role: z.nullable(z.enum(['admin', 'employee', 'founder'])),
  /** `admission`: the platform's owner has not admitted the institution, or has suspended it. */
  waitingFor: z.array(z.enum(['admission', 'kyc', 'policy'])),
  /** Unix seconds at which the wallet's departure takes effect; until then it cannot buy. */
  leavingAt: z.nullable(z.int().check(z.minimum(0))),
  /** An institution that the wallet may join, and the inviting admin: names can look alike, addresses do not. */
  invitation: z.nullable(z.object({ orgId: bytes32Schema, admin: addressSchema })),
})
export type WalletView = z.output<typeof walletSchema>

export const institutionSchema = z.object({
  orgId: bytes32Schema,
  name: z.nullable(z.string()),
  admin: addressSchema,
  walletCount: count,
  rulesVersion: count,
  openOrders: count,
  /** Totals of the whole platform, never of one institution. */
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

const price = z.nullable(uint256Schema)
export const marketSchema = z.object({
  asOf: timeSchema,
  stale: z.boolean(),
  /** Prices in USD with 6 decimals as base units; null if the provider has none. */
  symbols: z.array(
    z.object({
      symbol: symbolSchema,
      name: z.string(),
      price,
      previousClose: price,
      bid: price,
      ask: price,
      asOf: z.nullable(timeSchema),
    }),
  ),
  /** The broker's fees, deducted from the proceeds of sales. */
  fees: z.array(feeSchema),
})
export type MarketView = z.output<typeof marketSchema>

export const marketBarsSchema = z.object({
  asOf: timeSchema,
  stale: z.boolean(),
  /** The span of one bar, in seconds. */
  barSeconds: z.int().check(z.positive()),
  /** All listed symbols: the server does not learn which one is looked at. */
  symbols: z.array(
    z.object({
      symbol: symbolSchema,
      /** Oldest first; spans without trades are missing. `close` is in USD with 6 decimals, as base units. */
      bars: z.array(z.object({ at: timeSchema, close: uint256Schema })),
    }),
  ),
})
export type MarketBars = z.output<typeof marketBarsSchema>

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
  /** The account that pays the gas. */
  relayer: addressSchema,
  /** The one that `GET /enclave-key` last had. Absent at a server that does not know it. */
  mode: z.optional(enclaveModeSchema),
})
export type Health = z.output<typeof healthSchema>

const checkStatusSchema = z.enum(['healthy', 'degraded', 'unhealthy'])

export const healthChecksSchema = z.object({
  /** When the checks began. */
  asOf: timeSchema,
  /** That of the worst check. */
  status: checkStatusSchema,
  checks: z.array(
    z.object({
      name: z.string(),
      status: checkStatusSchema,
      /** Null when it is healthy. */
      reason: z.nullable(z.string()),
    }),
  ),
  /** The account that pays the gas, with its balance in wei; null while no node reports it. */
  relayer: z.nullable(z.object({ address: addressSchema, balance: uint256Schema })),
  /** Wei below which the account accepts no new work. */
  minBalance: uint256Schema,
  /** The gas of the day (UTC). `limit` includes `reserve`; `remaining` and `reserveRemaining` are apart. */
  gas: z.object({
    limit: uint256Schema,
    remaining: uint256Schema,
    reserve: uint256Schema,
    reserveRemaining: uint256Schema,
  }),
})
/** The checks of the server's readiness, and the relayer's balance and gas. */
export type HealthChecks = z.output<typeof healthChecksSchema>

/** The daily gas quotas, by their owners, and the quota of openings that the platform pays for. */
export const quotaSchema = z.enum(['account', 'institution', 'opening'])
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
  /** Set with `would-revert`. */
  revert: z.optional(revertSchema),
  /** Set with `relay-quota-exhausted`: which quota is exhausted. */
  quota: z.optional(quotaSchema),
})
export type ProblemBody = z.output<typeof problemSchema>
