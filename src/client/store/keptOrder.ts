import * as z from 'zod/mini'
import { addressSchema } from '../../protocol/address.js'
import { commitOf } from '../../protocol/envelope.js'
import { orderEnvelopeSchema } from '../../protocol/envelopeForm.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { chainIdSchema } from '../../protocol/identifiers.js'
import { timestampSchema } from '../../protocol/orderTerms.js'
import { postedOpeningSchema } from '../../protocol/postedOpening.js'
import { parseStrictJson } from '../../protocol/strictJson.js'
import { ClientError } from '../errors.js'
import type { KeptOrder } from '../orderStore.js'

const FORMAT = 'service-kept-order-v1'
/** An envelope of the largest size takes some 8,500 characters. */
const MAX_CHARACTERS = 16_384

const keptOrderSchema = z.strictObject({
  format: z.literal(FORMAT),
  chainId: chainIdSchema,
  escrow: addressSchema,
  account: addressSchema,
  orderId: bytes32Schema,
  deadline: timestampSchema,
  envelope: orderEnvelopeSchema,
  opening: z.optional(postedOpeningSchema),
})

/**
 * An order as text, the only form in which the stores keep it: JSON, docs/protocol.md, section 8.
 *
 * It holds no key and no content of the order. A stranger who reads it learns that this wallet has sealed an order, its id and its
 * deadline, and with `opening` the USDC that a buy escrows: what the chain shows once the order is open. The envelope opens for the
 * enclave alone. The signature in `opening` can open this order, as its owner wanted, until `validBefore`, and do nothing else.
 */
export function encodeOrder({ commit: _, ...order }: KeptOrder): string {
  return JSON.stringify(z.encode(keptOrderSchema, { format: FORMAT, ...order }))
}

/**
 * The order in such a text: strict, so that no other program's text counts as an order.
 * @throws ClientError `invalid-kept-order`, which does not quote the text
 */
export function decodeOrder(text: string): KeptOrder {
  try {
    if (text.length > MAX_CHARACTERS) throw invalid()
    const { format: _, ...order } = keptOrderSchema.parse(parseStrictJson(text))
    return { ...order, commit: commitOf(order.envelope) }
  } catch (cause) {
    throw cause instanceof ClientError ? cause : invalid(cause)
  }
}

function invalid(cause?: unknown): ClientError {
  const message = 'This is no kept order: it is damaged, or another release of this library has written it.'
  return new ClientError('invalid-kept-order', message, { cause })
}

/** @throws ClientError `invalid-kept-order` for what could name another file or row */
export function orderIdOf(orderId: Hex): Hex {
  const { data } = bytes32Schema.safeParse(orderId)
  if (data === undefined) throw new ClientError('invalid-kept-order', 'An order’s id is 32 bytes.')
  return data
}
