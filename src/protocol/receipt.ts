// A receipt shows one order to its reader, and no more: docs/protocol.md, "Receipt of an order".

import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { ORDER_PLACE, openWithKey } from './envelope.js'
import { orderEnvelopeSchema } from './envelopeForm.js'
import { bytes32Schema } from './hex.js'
import { chainIdSchema } from './identifiers.js'
import { type Intent, intentSchema } from './intent.js'

export const RECEIPT_VERSION = 1

const { iv, ct, tag } = orderEnvelopeSchema.shape

/** An order's ciphertext, to which its escrow is committed, with the key of its content. It is its own JSON. */
export const receiptSchema = z.strictObject({
  v: z.literal(RECEIPT_VERSION),
  chainId: chainIdSchema,
  /** `OrderEscrow`. */
  escrow: addressSchema,
  orderId: bytes32Schema,
  iv,
  ct,
  tag,
  /** The key of this envelope's content: confidential, and of no use for any other order. */
  contentKey: bytes32Schema,
})
export type Receipt = z.output<typeof receiptSchema>

/** The intent in a receipt; checks neither the chain nor the signature. @throws ProtocolError, ZodError */
export async function openReceipt({ contentKey, ...content }: Receipt): Promise<Intent> {
  return intentSchema.parse(await openWithKey(content, contentKey, ORDER_PLACE))
}
