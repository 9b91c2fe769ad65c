import * as z from 'zod/mini'
import { cancelEnvelopeSchema, orderEnvelopeSchema, policyEnvelopeSchema } from './envelopeForm.js'
import { bytes32Schema } from './hex.js'
import { timestampSchema } from './orderTerms.js'
import { outcomeSchema } from './outcome.js'

/** Lower case, so a run has exactly one id. */
export const runIdSchema = z.uuid().check(z.toLowerCase())

const common = {
  runId: runIdSchema,
  /** Unix seconds. After this time the enclave calls neither the broker nor the relay. */
  stopAt: timestampSchema,
}
/** The envelope is absent if the enclave already holds the order, the order was reclaimed, or the envelope is lost. */
const orderJob = z.strictObject({
  job: z.literal('order'),
  ...common,
  orderId: bytes32Schema,
  envelope: z.optional(orderEnvelopeSchema),
  /** The account asks for the order to be cancelled; only the enclave can tell whether the envelope says so. */
  cancel: z.optional(cancelEnvelopeSchema),
  /** The position of the escrow's opening; orders take turns at the broker in this order. Nothing else uses it. */
  openedAt: z.optional(
    z.strictObject({ block: z.int().check(z.nonnegative()), logIndex: z.int().check(z.nonnegative()) }),
  ),
})
const policyJob = z.strictObject({ job: z.literal('policy'), ...common, envelope: policyEnvelopeSchema })
/** What the platform's owner decides about a stuck order or account; see `Resolution`. */
const resolveJob = z.strictObject({ job: z.literal('resolve'), ...common, envelope: cancelEnvelopeSchema })
const reconcileJob = z.strictObject({ job: z.literal('reconcile'), ...common })

/** One job for the enclave: confidential content is sealed, and a job names no file. */
export const jobSchema = z.discriminatedUnion('job', [orderJob, policyJob, resolveJob, reconcileJob])
export type Job = z.output<typeof jobSchema>

/**
 * The enclave's report of a run's end. It never says why an order was refused: the sealed `notice` does.
 */
export const runResultSchema = z.strictObject({
  outcome: outcomeSchema,
  /** Unix seconds of the order's next run, or from which a rulebook may be posted again. */
  retryAt: z.optional(timestampSchema),
  /** An envelope of kind `notice` for the employee. */
  notice: z.optional(orderEnvelopeSchema),
  /** The institution of an accepted rulebook. */
  orgId: z.optional(bytes32Schema),
  version: z.optional(z.int().check(z.minimum(1))),
  /** Why a rulebook or a resolution was rejected, or the kind of a failure: a code, never free text. */
  code: z.optional(z.string().check(z.regex(/^[a-z0-9-]{1,64}$/))),
})
export type RunResult = z.output<typeof runResultSchema>

/**
 * An interim result: a notice before its refund, or a code. The run continues; if it fails later, its result repeats
 * this one.
 */
export const provisionalResultSchema = z
  .pick(runResultSchema, { notice: true, code: true })
  .check(
    z.refine(({ notice, code }) => notice !== undefined || code !== undefined, 'expected a notice or a code'),
  )
export type ProvisionalResult = z.output<typeof provisionalResultSchema>

/**
 * The process that accepts jobs. `instance` names the state directory that it locks for its lifetime. `boot` counts its
 * starts with that directory: a later boot proves that every earlier process has ended.
 */
export const enclaveBootSchema = z.strictObject({ instance: z.uuid(), boot: z.int().check(z.positive()) })
export type EnclaveBoot = z.output<typeof enclaveBootSchema>

/** A result, with the boot of the enclave that posts it. */
export const postedResultSchema = z.extend(runResultSchema, { enclave: z.optional(enclaveBootSchema) })
export type PostedResult = z.output<typeof postedResultSchema>

/**
 * The `code` of a `failed` run that ended because its enclave restarted: a later boot of the same instance reports it.
 */
export const RESTARTED = 'enclave-restarted'

/** The enclave's answer to a job. `already-accepted`: the enclave already has this run. */
export const jobAcceptedSchema = z.object({
  runId: runIdSchema,
  result: z.enum(['accepted', 'already-accepted']),
  /** Absent if the program in front of the enclave cannot prove that an earlier process has ended. */
  ...z.partial(enclaveBootSchema).shape,
})

/** The answer to a run's result or notice. `not-awaited`: the run is unknown or has ended. */
export const runResultReceivedSchema = z.object({
  runId: runIdSchema,
  result: z.enum(['received', 'not-awaited']),
})
