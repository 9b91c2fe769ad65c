// EIP-712 typed data of an order intent: https://eips.ethereum.org/EIPS/eip-712

import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { type Envelope, ORDER_PLACE, open, seal, sealOrderWithKey } from './envelope.js'
import { type Bytes, bytes32Schema, type Hex } from './hex.js'
import { symbolSchema } from './identifiers.js'
import { type IntentDomain, intentDomain } from './intentDomain.js'
import { type Limit, limitSchema, sideSchema, timeInForceSchema, timestampSchema } from './orderTerms.js'
import { publicKeySchema } from './point.js'
import { accountSignatureSchema } from './signature.js'
import { typedDataDigest } from './typedData.js'
import { uint64Schema, uint256Schema } from './units.js'

/** An order at the market's price, and everything else that is signed for the enclave. */
export const INTENT_VERSION = 1
/** An order with a limit price. */
export const LIMIT_INTENT_VERSION = 2

const beforeSide = {
  orderId: bytes32Schema,
  account: addressSchema,
  /** Informational: the enclave reads the institution from the registry. */
  orgId: bytes32Schema,
}
const afterSide = {
  /** A ticker, or `USDC` for a withdrawal or a deposit of cash. */
  symbol: symbolSchema,
  /** USDC base units, or share base units for a withdrawal of shares. */
  maxSpend: uint256Schema,
  /** Unix seconds; equal to the order's on-chain deadline. */
  expiry: timestampSchema,
  /** Strictly above the portfolio's nonce; at most 2^53 − 1. */
  nonce: z.int().check(z.minimum(0)),
  userPubKey: publicKeySchema,
}
const marketShape = { v: z.literal(INTENT_VERSION), ...beforeSide, side: sideSchema, ...afterSide }
const limitShape = {
  v: z.literal(LIMIT_INTENT_VERSION),
  ...beforeSide,
  side: z.enum(['BUY', 'SELL']),
  ...afterSide,
  /** Shorter than in version 1: twenty limit orders of the longest numbers still fit into a portfolio. */
  maxSpend: uint64Schema,
  limitPrice: limitSchema.shape.price,
  timeInForce: timeInForceSchema,
}

/** An intent before it is signed. */
export const unsignedIntentSchema = z.discriminatedUnion('v', [
  z.strictObject(marketShape),
  z.strictObject(limitShape),
])
export type UnsignedIntent = z.output<typeof unsignedIntentSchema>

/** The content of an order's envelope. Decode JSON with `.parse`, encode with `z.encode`. */
export const intentSchema = z.discriminatedUnion('v', [
  z.strictObject({ ...marketShape, sig: accountSignatureSchema }),
  z.strictObject({ ...limitShape, sig: accountSignatureSchema }),
])
export type Intent = z.output<typeof intentSchema>

const marketMembers = [
  { name: 'v', type: 'uint256' },
  { name: 'orderId', type: 'bytes32' },
  { name: 'account', type: 'address' },
  { name: 'orgId', type: 'bytes32' },
  { name: 'side', type: 'string' },
  { name: 'symbol', type: 'string' },
  { name: 'maxSpend', type: 'uint256' },
  { name: 'expiry', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'userPubKey', type: 'bytes' },
]

export const intentTypes = { Intent: marketMembers }

export const limitIntentTypes = {
  LimitIntent: [
    ...marketMembers,
    { name: 'limitPrice', type: 'uint256' },
    { name: 'timeInForce', type: 'string' },
  ],
}

/** The EIP-712 types of an intent of this version. */
export function intentTypesOf({ v }: Pick<UnsignedIntent, 'v'>) {
  return v === INTENT_VERSION ? intentTypes : limitIntentTypes
}

/** The limit of an intent's order; undefined for an order at the market's price. */
export function limitOf(intent: UnsignedIntent): Limit | undefined {
  if (intent.v === INTENT_VERSION) return undefined
  return { price: intent.limitPrice, timeInForce: intent.timeInForce }
}

/** The EIP-712 digest that the employee's wallet signs. */
export function intentDigest(intent: UnsignedIntent, domain: IntentDomain): Hex {
  return typedDataDigest(intentDomain(domain), intentTypesOf(intent), intent)
}

/** Seals an intent to the enclave's key. */
export function sealIntent(intent: Intent, enclavePublicKey: Hex): Promise<Envelope> {
  return seal(z.encode(intentSchema, intent), enclavePublicKey, ORDER_PLACE)
}

/** Seals an intent to the enclave's key; the key of its content is the employee's alone, to show the order to whom she likes. */
export function sealIntentWithKey(intent: Intent, enclavePublicKey: Hex) {
  return sealOrderWithKey(z.encode(intentSchema, intent), enclavePublicKey)
}

/** Opens an order's envelope with the enclave's key; does not check the signature. @throws ProtocolError, ZodError */
export async function openIntent(envelope: Envelope, privateKey: Bytes): Promise<Intent> {
  return intentSchema.parse(await open(envelope, privateKey, ORDER_PLACE))
}
