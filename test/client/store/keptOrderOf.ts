import type { Hex, KeptOrder } from '../../../src/client/index.js'
import { commitOf } from '../../../src/protocol/envelope.js'

/** An order of its own for each number. */
export function keptOrderOf(number: number): KeptOrder {
  const bytes = (length: number): Hex => `0x${'02'.repeat(length)}`
  const envelope = { epk: bytes(33), iv: bytes(12), ct: bytes(512), tag: bytes(16) }
  const orderId: Hex = `0x${number.toString(16).padStart(64, '0')}`
  const place = { chainId: 31_337, escrow: bytes(20), account: bytes(20), deadline: 1_900_000_000 }
  return { ...place, orderId, envelope, commit: commitOf(envelope) }
}
