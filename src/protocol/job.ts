import * as z from 'zod'
import { orderEnvelopeSchema, policyEnvelopeSchema } from './envelope.js'
import { bytes32Schema } from './hex.js'
import { timestampSchema } from './intent.js'

/** Lower case, so that one run has one id. */
export const runIdSchema = z.uuid().toLowerCase()

const common = {
  runId: runIdSchema,
  /** Unix seconds. After it the enclave calls neither broker nor relay. */
  stopAt: timestampSchema,
}
/** Without an envelope for an order that is held already, that was reclaimed, or whose envelope is lost. */
const orderJob = z.strictObject({
  job: z.literal('order'),
  ...common,
  orderId: bytes32Schema,
  envelope: orderEnvelopeSchema.optional(),
  /** Where its escrow was opened, by which orders take turns at the broker. Nothing else depends on it. */
  openedAt: z.strictObject({ block: z.int().nonnegative(), logIndex: z.int().nonnegative() }).optional(),
})
const policyJob = z.strictObject({ job: z.literal('policy'), ...common, envelope: policyEnvelopeSchema })
const reconcileJob = z.strictObject({ job: z.literal('reconcile'), ...common })

/** One job as it travels to a remote enclave: what is confidential in it is sealed, and it names no file. */
export const remoteJobSchema = z.discriminatedUnion('job', [orderJob, policyJob, reconcileJob])
export type RemoteJob = z.output<typeof remoteJobSchema>

/** Absolute path that the result is written to, whole or not at all: `<runId>.result` in the starter's directory. */
const place = { resultFile: z.string().min(1) }

/** One job, a JSON object on the enclave's standard input. */
export const jobSchema = z.discriminatedUnion('job', [
  orderJob.extend(place),
  policyJob.extend(place),
  reconcileJob.extend(place),
])
export type Job = z.output<typeof jobSchema>

/**
 * How a run ended.
 * - `settled`, `refunded`: final on chain
 * - `placed`: live at the broker; `queued`: written ahead, waiting
 * - `rejected`: nothing to refund, or not this order's envelope
 * - `accepted`: the rulebook is on chain; `done`: reconciled, or nothing left to do
 * - `failed`: may be tried again
 */
export const outcomeSchema = z.enum([
  'settled',
  'refunded',
  'placed',
  'queued',
  'rejected',
  'accepted',
  'done',
  'failed',
])
export type Outcome = z.output<typeof outcomeSchema>

/**
 * In the `code` of a `queued` order: what it waits for. The market is closed, the platform is paused, its account's quota of the
 * relay's gas is used up for today, or the relay's whole budget is, or its turn at the broker, which takes so many requests
 * a minute, is too far away; or its escrow does not lie deep enough in the chain yet.
 */
export const waitReasonSchema = z.enum([
  'market-closed',
  'paused',
  'relay-quota-exhausted',
  'relay-budget-exhausted',
  'broker-rate-limit',
  'chain-depth',
])
export type WaitReason = z.output<typeof waitReasonSchema>

/**
 * What a run leaves in `resultFile`, or the enclave posts once it has ended. It never says why an order was
 * refused: that is in the sealed `notice`.
 */
export const runResultSchema = z.strictObject({
  outcome: outcomeSchema,
  /** Unix seconds at which the order wants its next run, or a rulebook may be posted again. */
  retryAt: timestampSchema.optional(),
  /** An envelope of kind `notice` for the employee. */
  notice: orderEnvelopeSchema.optional(),
  /** Of an accepted rulebook. */
  orgId: bytes32Schema.optional(),
  version: z.int().min(1).optional(),
  /** Why a rulebook was rejected, or what kind of failure it was: a code, never a text. */
  code: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/)
    .optional(),
})
export type RunResult = z.output<typeof runResultSchema>

/** What a run says before its end, and a later failure of it repeats: a notice before its refund, or a code. It ends nothing. */
export const provisionalResultSchema = runResultSchema
  .pick({ notice: true, code: true })
  .refine(({ notice, code }) => notice !== undefined || code !== undefined, 'expected a notice or a code')
export type ProvisionalResult = z.output<typeof provisionalResultSchema>

/**
 * The process that takes jobs. `instance` names the state directory that it holds locked for its life, `boot` counts its
 * starts with that directory: a later boot proves that every earlier one is over.
 */
export const enclaveBootSchema = z.strictObject({ instance: z.uuid(), boot: z.int().positive() })
export type EnclaveBoot = z.output<typeof enclaveBootSchema>

/** A result as an enclave that stays up posts it. */
export const postedResultSchema = runResultSchema.extend({ enclave: enclaveBootSchema.optional() })
export type PostedResult = z.output<typeof postedResultSchema>

/** In the `code` of a `failed` run: a later boot of the same instance says that the run is over, however far it had come. */
export const RESTARTED = 'enclave-restarted'

/** Outcomes after which an order needs no further run. */
export const FINAL_OUTCOMES: ReadonlySet<Outcome> = new Set(['settled', 'refunded', 'rejected', 'done'])
