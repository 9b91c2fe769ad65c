// What the platform's owner decides about an order, or an account, that no run can bring on by itself: signed, and sealed to the enclave.

import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { type Envelope, type EnvelopePlace, type EnvelopeRandomness, open, seal } from './envelope.js'
import { cancelEnvelopeSchema } from './envelopeForm.js'
import { type Bytes, bytes32Schema, type Hex } from './hex.js'
import { chainIdSchema } from './identifiers.js'
import { INTENT_VERSION } from './intent.js'
import { domainBytes, type IntentDomain, intentDomain } from './intentDomain.js'
import { textHash } from './keccak.js'
import { timestampSchema } from './orderTerms.js'
import { type OpenOrder, openOrderSchema } from './portfolio.js'
import { envelopeHash } from './sealedRulebook.js'
import { signatureSchema } from './signature.js'
import { typedDataDigest } from './typedData.js'
import { uint256Schema } from './units.js'

const orderShape = {
  resolves: z.literal('order'),
  v: z.literal(INTENT_VERSION),
  orderId: bytes32Schema,
  /** `entryHash` of the order in its account's portfolio: the resolution is for this very entry, which it ends. */
  entryHash: bytes32Schema,
  /** Share base units that were filled; 0 releases the order. */
  quantity: uint256Schema,
  /** USDC base units: what the fill costs the account, or brings it after fees. */
  value: uint256Schema,
  /** Unix seconds of the chain's time, as in EIP-3009: from then on it has no effect. At most `MAX_VALIDITY_S` ahead. */
  validBefore: timestampSchema,
}
const nonceShape = {
  resolves: z.literal('nonce'),
  v: z.literal(INTENT_VERSION),
  /** A refunded order of the account: the contracts take a portfolio only with an order. */
  orderId: bytes32Schema,
  /** The ledger's running hash of the account's portfolio: the resolution is for this very state. */
  portfolioHash: bytes32Schema,
  validBefore: timestampSchema,
}

const moveShape = {
  resolves: z.literal('move'),
  v: z.literal(INTENT_VERSION),
  /** The lost wallet, and the new one that its portfolio moves to: the registry has the move, and says whether it is due. */
  from: addressSchema,
  to: addressSchema,
  validBefore: timestampSchema,
}

/** How far ahead `validBefore` may lie, in seconds. The owner decides about what he sees now, and not for later. */
export const MAX_VALIDITY_S = 86_400

/** How an order ends by the owner's figures. */
export type OrderResolution = z.output<z.ZodMiniObject<typeof orderShape>>
/** An account whose nonce has leapt gets it lowered to the time of the block. */
export type NonceResolution = z.output<z.ZodMiniObject<typeof nonceShape>>
/** A move that was approved on chain is carried out. */
export type MoveResolution = z.output<z.ZodMiniObject<typeof moveShape>>
export type UnsignedResolution = OrderResolution | NonceResolution | MoveResolution

/** The content of a resolution's envelope; `sig` covers every other member. */
export const resolutionSchema = z.discriminatedUnion('resolves', [
  z.strictObject({ ...orderShape, sig: signatureSchema }),
  z.strictObject({ ...nonceShape, sig: signatureSchema }),
  z.strictObject({ ...moveShape, sig: signatureSchema }),
])
export type Resolution = z.output<typeof resolutionSchema>

/** The body of `POST /resolutions`: the envelope, the time inside it, and the owner's signature of both. */
export const postResolutionSchema = z.strictObject({
  ...cancelEnvelopeSchema.shape,
  validBefore: timestampSchema,
  sig: signatureSchema,
})
export type PostResolution = z.output<typeof postResolutionSchema>

const resolutionTypes = {
  order: {
    OrderResolution: [
      { name: 'v', type: 'uint256' },
      { name: 'orderId', type: 'bytes32' },
      { name: 'entryHash', type: 'bytes32' },
      { name: 'quantity', type: 'uint256' },
      { name: 'value', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
    ],
  },
  nonce: {
    NonceResolution: [
      { name: 'v', type: 'uint256' },
      { name: 'orderId', type: 'bytes32' },
      { name: 'portfolioHash', type: 'bytes32' },
      { name: 'validBefore', type: 'uint256' },
    ],
  },
  move: {
    MoveResolution: [
      { name: 'v', type: 'uint256' },
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'validBefore', type: 'uint256' },
    ],
  },
}

const sealedResolutionTypes = {
  SealedResolution: [
    { name: 'envelopeHash', type: 'bytes32' },
    { name: 'validBefore', type: 'uint256' },
  ],
}

/** The EIP-712 digest that the owner signs inside the seal. */
export function resolutionDigest({ resolves, ...message }: UnsignedResolution, domain: IntentDomain): Hex {
  return typedDataDigest(intentDomain(domain), resolutionTypes[resolves], message)
}

/**
 * The EIP-712 digest that the owner signs outside the seal, for the server.
 * @param validBefore as inside the seal
 */
export function sealedResolutionDigest(envelope: Envelope, validBefore: number, domain: IntentDomain): Hex {
  const message = { envelopeHash: envelopeHash(envelope), validBefore }
  return typedDataDigest(intentDomain(domain), sealedResolutionTypes, message)
}

/**
 * Seals a resolution to the enclave's key.
 * @param resolution with `sig` of `resolutionDigest`
 * @param randomness pass only to reproduce a test vector
 */
export function sealResolution(
  resolution: Resolution,
  enclavePublicKey: Hex,
  domain: IntentDomain,
  randomness?: EnvelopeRandomness,
): Promise<Envelope> {
  return seal(z.encode(resolutionSchema, resolution), enclavePublicKey, placeOf(domain), randomness)
}

/** Opens a resolution's envelope with the enclave's key; does not check the signature. @throws ProtocolError, ZodError */
export async function openResolution(
  envelope: Envelope,
  privateKey: Bytes,
  domain: IntentDomain,
): Promise<Resolution> {
  return resolutionSchema.parse(await open(envelope, privateKey, placeOf(domain)))
}

/** `keccak256(utf8(JSON))` of the order's id and the members of its entry, amounts as decimal strings. */
export function entryHash(orderId: Hex, entry: OpenOrder): Hex {
  const { side, symbol, notional, escrow, locked, brokerOrderId, placedAt, limit } = entry
  const amounts = [notional, escrow, locked].map(String)
  const beyondMarket = limit === undefined ? [] : [String(limit.price), limit.timeInForce]
  const json = JSON.stringify([orderId, side, symbol, ...amounts, brokerOrderId, placedAt, ...beyondMarket])
  return textHash(json)
}

/** An order as the enclave's part of `operate resolve` reports it. */
export const orderReportSchema = z.strictObject({
  chainId: chainIdSchema,
  /** Address of `OrderEscrow`. */
  escrow: addressSchema,
  orderId: bytes32Schema,
  account: addressSchema,
  state: z.enum(['NONE', 'OPEN', 'SETTLED', 'REFUNDED']),
  portfolioHash: bytes32Schema,
  /** The portfolio's; 0 without one. */
  nonce: z.int().check(z.minimum(0)),
  /** Null for an order that is not in the portfolio. */
  entry: z.nullable(openOrderSchema),
})
export type OrderReport = z.output<typeof orderReportSchema>

/** The context is `uint256be(chainId) ‖ escrow`. */
function placeOf(domain: IntentDomain): EnvelopePlace {
  return { kind: 'resolution', context: domainBytes(domain) }
}

/** The enclave has applied what the platform's owner decided. */
export const resolvedSchema = z.object({ result: z.literal('done') })
export type Resolved = z.output<typeof resolvedSchema>
