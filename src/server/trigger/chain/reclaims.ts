import type { Hex } from '../../../protocol/hex.js'
import { RECLAIM_DELAY } from '../../../protocol/reclaimDelay.js'
import { inBatches } from '../../async/inBatches.js'
import type { OrderRecords } from '../../store/orderRecords.js'
import { StorageError } from '../../store/storageError.js'
import type { EscrowEvents } from './escrowEvents.js'

/** Whether an account could take its order back at a time (Unix seconds); before it, only the enclave can refund it. */
export function isReclaimable(deadline: number, time: number): boolean {
  return time >= deadline + RECLAIM_DELAY
}

/** Block times asked for side by side. */
const BATCH = 20

/** An escrow that was refunded, by the enclave or by a reclaim: the event is the same. */
export interface Refund {
  readonly orderId: Hex
  /** Of its `OrderRefunded`. */
  readonly block: number
  /** Unix seconds. */
  readonly deadline: number
}

/**
 * The refunds that may be reclaims which the enclave has not heard of: those late enough for one, of orders that the
 * cache does not know. An order may be held when it is reclaimed, and nothing else tells once the cache is lost.
 *
 * One whose record can't be read may be one, too.
 *
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function unheardReclaims(
  { events, records }: { readonly events: EscrowEvents; readonly records: OrderRecords },
  refunds: readonly Refund[],
  now: number,
): Promise<Set<Hex>> {
  const found = new Set<Hex>()
  const possible = refunds.filter(({ deadline }) => isReclaimable(deadline, now))
  await inBatches(possible, BATCH, async ({ orderId, block, deadline }) => {
    if (await isKnown(records, orderId)) return
    const time = await events.blockTime(block)
    if (time === undefined || isReclaimable(deadline, time)) found.add(orderId)
  })
  return found
}

async function isKnown(records: OrderRecords, orderId: Hex): Promise<boolean> {
  try {
    return (await records.get(orderId)) !== undefined
  } catch (error) {
    if (error instanceof StorageError) return false
    throw error
  }
}
