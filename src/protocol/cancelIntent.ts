// The cancel of an order: a signed intent inside the seal, for the enclave, and a signature outside it, for the server.

import * as z from 'zod/mini'
import { addressSchema, sameAddress } from './address.js'
import { type Envelope, type EnvelopePlace, type EnvelopeRandomness, open, seal } from './envelope.js'
import { cancelEnvelopeSchema } from './envelopeForm.js'
import { ProtocolError } from './errors.js'
import { type Bytes, bytes32Schema, concatBytes, type Hex, hexToBytes } from './hex.js'
import { INTENT_VERSION } from './intent.js'
import { domainBytes, type IntentDomain, intentDomain } from './intentDomain.js'
import { envelopeHash } from './sealedRulebook.js'
import { accountSignatureSchema } from './signature.js'
import { typedDataDigest } from './typedData.js'

/** An order as its escrow has it. A cancel has no nonce, so it voids no order that waits. */
interface CancelledOrder {
  readonly orderId: Hex
  readonly account: Hex
}

/** The content of a cancel's envelope; `sig` covers every other member. Decode JSON with `.parse`, encode with `z.encode`. */
export const cancelIntentSchema = z.strictObject({
  v: z.literal(INTENT_VERSION),
  orderId: bytes32Schema,
  account: addressSchema,
  sig: accountSignatureSchema,
})
export type CancelIntent = z.output<typeof cancelIntentSchema>

/** The body of `POST /orders/:orderId/cancel`: the envelope, and the account's signature of its hash. */
export const postCancelSchema = z.strictObject({ ...cancelEnvelopeSchema.shape, sig: accountSignatureSchema })
export type PostCancel = z.output<typeof postCancelSchema>

export const cancelIntentTypes = {
  CancelIntent: [
    { name: 'v', type: 'uint256' },
    { name: 'orderId', type: 'bytes32' },
    { name: 'account', type: 'address' },
  ],
}

export const sealedCancelTypes = {
  SealedCancel: [
    { name: 'orderId', type: 'bytes32' },
    { name: 'envelopeHash', type: 'bytes32' },
  ],
}

/** The typed-data message that the account signs inside the seal. */
export function cancelIntentMessage({ orderId, account }: CancelledOrder) {
  return { v: INTENT_VERSION, orderId, account }
}

/** The typed-data message that the account signs outside the seal. */
export function sealedCancelMessage(orderId: Hex, envelope: Envelope) {
  return { orderId, envelopeHash: envelopeHash(envelope) }
}

/** The EIP-712 digest that the account's wallet signs inside the seal. */
export function cancelIntentDigest(order: CancelledOrder, domain: IntentDomain): Hex {
  return typedDataDigest(intentDomain(domain), cancelIntentTypes, cancelIntentMessage(order))
}

/** The EIP-712 digest that the account's wallet signs outside the seal. */
export function sealedCancelDigest(orderId: Hex, envelope: Envelope, domain: IntentDomain): Hex {
  return typedDataDigest(intentDomain(domain), sealedCancelTypes, sealedCancelMessage(orderId, envelope))
}

/**
 * Seals a cancel to the enclave's key.
 * @param sig of `cancelIntentDigest`
 * @param randomness pass only to reproduce a test vector
 */
export function sealCancel(
  { orderId, account, sig }: CancelledOrder & { readonly sig: Hex },
  enclavePublicKey: Hex,
  domain: IntentDomain,
  randomness?: EnvelopeRandomness,
): Promise<Envelope> {
  const intent: CancelIntent = { v: INTENT_VERSION, orderId, account, sig }
  const plaintext = z.encode(cancelIntentSchema, intent)
  return seal(plaintext, enclavePublicKey, placeOf(orderId, domain), randomness)
}

/**
 * The signature of `cancelIntentDigest` in the envelope of this order's cancel, unchecked. The signature outside the seal does not count
 * here: the server has seen it.
 * @throws ProtocolError, ZodError
 */
export async function openCancel(
  envelope: Envelope,
  privateKey: Bytes,
  order: CancelledOrder,
  domain: IntentDomain,
): Promise<Hex> {
  const place = placeOf(order.orderId, domain)
  const intent = cancelIntentSchema.parse(await open(envelope, privateKey, place))
  if (intent.orderId !== order.orderId || !sameAddress(intent.account, order.account)) {
    throw new ProtocolError('invalid-plaintext', 'the cancel is for another order or account')
  }
  return intent.sig
}

/** The context is `uint256be(chainId) ‖ escrow ‖ orderId`. */
function placeOf(orderId: Hex, domain: IntentDomain): EnvelopePlace {
  return { kind: 'cancel', context: concatBytes(domainBytes(domain), hexToBytes(orderId)) }
}
