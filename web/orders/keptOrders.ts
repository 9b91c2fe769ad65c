// Sealed orders whose escrow may be open, or may still be opened by a signature. The server may lack or lose their envelopes, and could not start the orders
// without these copies. Only the enclave can open an envelope, so the browser's storage may hold it.
import * as z from 'zod'
import {
  isSignedOrder,
  type OrderStatus,
  type SealedOrder,
  type SignedOrder,
} from '../../src/client/index.js'
import { sameAddress } from '../../src/protocol/address.js'
import { hasEnded } from '../../src/protocol/api.js'
import { orderEnvelopeSchema } from '../../src/protocol/envelope.js'
import { bytes32Schema, type Hex } from '../../src/protocol/hex.js'
import { postedOpeningSchema } from '../../src/protocol/postedOpening.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'
import { isUnknownOrder } from '../words/failures.js'

const keptSchema = z.object({
  orderId: bytes32Schema,
  commit: bytes32Schema,
  envelope: orderEnvelopeSchema,
  /** The wallet's signature that opens its escrow; absent where a transaction opens it. */
  opening: postedOpeningSchema.optional(),
  /** Unix seconds. */
  deadline: z.int().positive(),
})
type KeptOrder = z.output<typeof keptSchema>

const PREFIX = 'desk:order:'

/** Stores an order, and drops those that are already reclaimable, because their envelopes are no longer useful. */
export function keepOrder({ orderId, commit, envelope, opening, intent }: SealedOrder): void {
  for (const key of keys()) {
    const kept = read(key)
    if (kept === null || kept.deadline + RECLAIM_DELAY < Date.now() / 1_000) localStorage.removeItem(key)
  }
  const kept: KeptOrder = { orderId, commit, envelope, opening, deadline: intent.expiry }
  localStorage.setItem(PREFIX + orderId, JSON.stringify(z.encode(keptSchema, kept)))
}

export function forgetOrder(orderId: Hex): void {
  localStorage.removeItem(PREFIX + orderId)
}

/** Null if the order is not stored or is damaged. */
export function keptOrder(orderId: Hex): KeptOrder | null {
  return read(PREFIX + orderId)
}

/** Those whose opening this account has signed. */
export function signedOrders(account: Hex): (KeptOrder & SignedOrder)[] {
  return keys()
    .flatMap((key) => read(key) ?? [])
    .filter(isSignedOrder)
    .filter(({ opening }) => sameAddress(opening.account, account))
}

function keys(): string[] {
  const all = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? '')
  return all.filter((key) => key.startsWith(PREFIX))
}

function read(key: string): KeptOrder | null {
  const text = localStorage.getItem(key)
  if (text === null) return null
  try {
    return keptSchema.parse(JSON.parse(text))
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
