import type { TriggerReason } from '../../../protocol/api.js'
import type { Hex } from '../../../protocol/hex.js'
import type { Outcome, WaitReason } from '../../../protocol/job.js'

/** Where an event lies on the chain. */
export interface ChainPosition {
  readonly block: number
  readonly logIndex: number
}

/** An escrow as it was opened. */
export interface OpenedOrder {
  readonly orderId: Hex
  readonly account: Hex
  readonly commit: Hex
  /** Of its `OrderOpened`. */
  readonly position: ChainPosition
}

/** An order that the dispatcher watches over: its escrow is open, or its end is not yet dealt with. */
export interface TrackedOrder extends OpenedOrder {
  /** These three change when a reorganisation of the chain brings another opening under the same id. */
  account: Hex
  commit: Hex
  position: ChainPosition
  state: 'OPEN' | 'SETTLED' | 'REFUNDED'
  running: boolean
  /**
   * When it runs next, in milliseconds of `performance.now()`; null when nothing is due. By the clock of the day, an order
   * that was due would not be so any more once that clock is set back, and nobody would look at it again.
   */
  dueAt: number | null
  /** Of its next run. */
  reason: TriggerReason
  /** Runs in a row that failed. */
  failures: number
  lastOutcome: Outcome | null
  /**
   * What its last run, which ended as `queued`, said that it waits for.
   */
  waitsFor: WaitReason | undefined
  /** The enclave has been given it, perhaps by a server whose cache is lost: it may hold it. */
  mayBeHeld: boolean
  /** Its envelope came while it was running. */
  envelopeCame: boolean
}

/** After so many failures in a row an order no longer holds back the account's later ones. */
const MAX_BLOCKING_FAILURES = 5

export function byPosition(a: ChainPosition, b: ChainPosition): number {
  return a.block - b.block || a.logIndex - b.logIndex
}

/** Whether all later orders of the account wait for this one. */
function holdsBack(order: TrackedOrder): boolean {
  return order.dueAt !== null && order.failures > 0 && order.failures < MAX_BLOCKING_FAILURES
}

/**
 * The account's next run: its first order in the order of opening that is due, unless one before it has failed and
 * is to be tried again. `placed` holds nothing back, nor does `queued` without a word of what it waits for; see {@link mayGoBefore}.
 *
 * @param orders of one account, sorted by position, none of them running
 * @param now milliseconds of `performance.now()`
 */
export function nextRunnable(orders: readonly TrackedOrder[], now: number): TrackedOrder | undefined {
  const waitsFor = new Set<WaitReason>()
  for (const order of orders) {
    if (order.dueAt !== null && order.dueAt <= now && mayGoBefore(order, waitsFor)) return order
    if (holdsBack(order)) return undefined
    if (order.dueAt !== null && order.waitsFor !== undefined) waitsFor.add(order.waitsFor)
  }
  return undefined
}

/**
 * An order that the enclave has not been given yet comes after those that wait: they may not be written ahead, and an intent with a
 * later nonce would have them refused. One that waits for the market is written ahead, so it holds back only what is queued as well: orders
 * of an account are placed in the order of their escrows.
 *
 * @param waitsFor what earlier orders of its account wait for
 */
function mayGoBefore(order: TrackedOrder, waitsFor: ReadonlySet<WaitReason>): boolean {
  if (!order.mayBeHeld) return waitsFor.size === 0 || (waitsFor.size === 1 && waitsFor.has('market-closed'))
  const isToBePlaced = order.lastOutcome === 'queued'
  return !isToBePlaced || !(waitsFor.has('market-closed') || waitsFor.has('broker-rate-limit'))
}
