// How a run ended, and why its order waits.
import * as z from 'zod/mini'

/**
 * How a run ended.
 * - `settled`, `refunded`: final on chain
 * - `placed`: live at the broker; `queued`: written ahead, waiting
 * - `rejected`: no escrow to refund, or another order's envelope
 * - `accepted`: the rulebook is on chain; `done`: reconciled or resolved, or no work left
 * - `failed`: may be retried
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
 * The reason in the `code` of a `queued` order:
 * - the market is closed, or the platform is paused
 * - the account's daily relay gas quota, or the relay's whole budget, is exhausted
 * - the order's turn under the broker's rate limit is too far away, before it is written ahead
 * - it is written ahead, and not its turn at the broker
 * - the escrow has too few confirmations
 * - the broker's corporate actions have not been read for too long
 */
export const waitReasonSchema = z.enum([
  'market-closed',
  'paused',
  'relay-quota-exhausted',
  'relay-budget-exhausted',
  'broker-rate-limit',
  'broker-turn',
  'chain-depth',
  'actions-unknown',
])
export type WaitReason = z.output<typeof waitReasonSchema>

/** Whether the order's sealed `notice` says more about why it waits. */
export function isToldByNotice(reason: WaitReason | undefined): boolean {
  return reason === 'broker-rate-limit' || reason === 'broker-turn'
}

/** Outcomes after which an order needs no further run. */
export const FINAL_OUTCOMES: ReadonlySet<Outcome> = new Set(['settled', 'refunded', 'rejected', 'done'])
