import * as z from 'zod'
import { orderEnvelopeSchema, policyEnvelopeSchema } from './envelope.js'
import { bytes32Schema } from './hex.js'
import { timestampSchema } from './intent.js'

const common = {
  runId: z.uuid(),
  /** Absolute path that the result is written to, whole or not at all. */
  resultFile: z.string().min(1),
  /** Unix seconds. After it the enclave calls neither broker nor relay. */
  stopAt: timestampSchema,
}

/** One job, a JSON object on the enclave's standard input. */
export const jobSchema = z.discriminatedUnion('job', [
  /** Without an envelope for an order that is held already, that was reclaimed, or whose envelope is lost. */
  z.strictObject({
    job: z.literal('order'),
    ...common,
    orderId: bytes32Schema,
    envelope: orderEnvelopeSchema.optional(),
  }),
  z.strictObject({ job: z.literal('policy'), ...common, envelope: policyEnvelopeSchema }),
  z.strictObject({ job: z.literal('reconcile'), ...common }),
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

/** What a run leaves in `resultFile`. It never says why an order was refused: that is in the sealed `notice`. */
export const runResultSchema = z.strictObject({
  outcome: outcomeSchema,
  /** Unix seconds at which the order wants its next run. */
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

/** Outcomes after which an order needs no further run. */
export const FINAL_OUTCOMES: ReadonlySet<Outcome> = new Set(['settled', 'refunded', 'rejected', 'done'])
