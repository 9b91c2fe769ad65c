// Sealed orders whose escrow may be open, but which the server does not have yet: without the envelope nothing would
// become of them. Only the enclave opens an envelope, so it may be kept where the browser keeps things.
import * as z from 'zod'
import type { SealedOrder } from '../../src/client/index.js'
import { orderEnvelopeSchema } from '../../src/protocol/envelope.js'
import { bytes32Schema, type Hex } from '../../src/protocol/hex.js'

const keptSchema = z.object({
  orderId: bytes32Schema,
  commit: bytes32Schema,
  envelope: orderEnvelopeSchema,
})
export type KeptOrder = Pick<SealedOrder, 'orderId' | 'commit' | 'envelope'>

const PREFIX = 'desk:order:'

export function keepOrder({ orderId, commit, envelope }: KeptOrder): void {
  localStorage.setItem(PREFIX + orderId, JSON.stringify({ orderId, commit, envelope }))
}

export function forgetOrder(orderId: Hex): void {
  localStorage.removeItem(PREFIX + orderId)
}

/** Null when it is not kept, or was damaged. */
export function keptOrder(orderId: Hex): KeptOrder | null {
  const text = localStorage.getItem(PREFIX + orderId)
  if (text === null) return null
  try {
    return keptSchema.parse(JSON.parse(text))
  } catch {
    return null
  }
}
