// Sealed orders whose escrow may be open, or may still be opened by a signature. The client keeps them in the browser's storage, where all
// tabs find them.

import * as z from 'zod/mini'
import type { KeptOrder, OrderStatus, OrderStore } from '../../src/client/index.js'
import { hasEnded } from '../../src/protocol/api.js'
import { orderEnvelopeSchema } from '../../src/protocol/envelopeForm.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { postedOpeningSchema } from '../../src/protocol/postedOpening.js'
import { isUnknownOrder } from '../words/failures.js'

/** A row of `localStorage`, where the page kept its orders before the client did. */
const formerSchema = z.object({
  orderId: bytes32Schema,
  commit: bytes32Schema,
  envelope: orderEnvelopeSchema,
  opening: z.optional(postedOpeningSchema),
  /** Unix seconds. */
  deadline: z.int().check(z.positive()),
})
const FORMER = 'desk:order:'

/**
 * Moves the rows that an earlier version of the page kept into the store, once. A row names no chain and no wallet, and counts for those
 * of this page. A damaged one is dropped: nothing could be sent of it.
 */
export async function moveFormerOrders(
  store: OrderStore,
  place: Pick<KeptOrder, 'chainId' | 'escrow' | 'account'>,
): Promise<void> {
  const all = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? '')
  for (const key of all.filter((name) => name.startsWith(FORMER))) {
    const former = formerOf(localStorage.getItem(key))
    if (former !== null) {
      const { opening, ...order } = former
      const account = opening?.account ?? place.account
      await store.keep({ ...place, account, ...order, ...(opening && { opening }) })
    }
    localStorage.removeItem(key)
  }
}

function formerOf(text: string | null) {
  try {
    return formerSchema.parse(JSON.parse(text ?? ''))
  } catch {
    return null
  }
}

type Answered = Pick<OrderStatus, 'state' | 'receivedAt'>

/**
 * Whether the server has reported that it lacks the envelope of an open order. Without an answer it may well have it.
 * `error` is the reason of a missing answer, and counts while `status` is null.
 */
export function isEnvelopeMissing(status: Answered | null, error: unknown): boolean {
  if (status === null) return isUnknownOrder(error)
  return status.receivedAt === null && !hasEnded(status)
}
