// Sealed orders whose escrow may be open. The server may not have their envelopes yet, or may lose them: then nothing would
// become of them without these. Only the enclave opens an envelope, so it may be kept where the browser keeps things.
import * as z from 'zod'
import type { SealedOrder } from '../../src/client/index.js'
import { orderEnvelopeSchema } from '../../src/protocol/envelope.js'
import { bytes32Schema, type Hex } from '../../src/protocol/hex.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'

const keptSchema = z.object({
  orderId: bytes32Schema,
  commit: bytes32Schema,
  envelope: orderEnvelopeSchema,
  /** Unix seconds. */
  deadline: z.int().positive(),
})
export type KeptOrder = z.output<typeof keptSchema>

const PREFIX = 'desk:order:'

/** Keeps an order, and drops those that the wallet can take back by now, whose envelopes are of no more use. */
export function keepOrder({ orderId, commit, envelope, intent }: SealedOrder): void {
  for (const key of keys()) {
    const kept = read(key)
    if (kept === null || kept.deadline + RECLAIM_DELAY < Date.now() / 1_000) localStorage.removeItem(key)
  }
  const kept: KeptOrder = { orderId, commit, envelope, deadline: intent.expiry }
  localStorage.setItem(PREFIX + orderId, JSON.stringify(kept))
}

export function forgetOrder(orderId: Hex): void {
  localStorage.removeItem(PREFIX + orderId)
}

/** Null when it is not kept, or was damaged. */
export function keptOrder(orderId: Hex): KeptOrder | null {
  return read(PREFIX + orderId)
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
