// EIP-712 typed data of an order intent: https://eips.ethereum.org/EIPS/eip-712
import * as z from 'zod'
import { addressSchema } from './address.js'
import { type Envelope, ORDER_PLACE, open, seal } from './envelope.js'
import { type Bytes, bytes32Schema, type Hex } from './hex.js'
import { symbolSchema } from './identifiers.js'
import { type IntentDomain, intentDomain } from './intentDomain.js'
import { publicKeySchema } from './publicKey.js'
import { signatureSchema } from './signature.js'
import { typedDataDigest } from './typedData.js'
import { uint256Schema } from './units.js'

export const INTENT_VERSION = 1

export const sideSchema = z.enum(['BUY', 'SELL', 'WITHDRAW', 'DEPOSIT'])
export type Side = z.output<typeof sideSchema>

/** Unix seconds. */
export const timestampSchema = z.int().min(0)

const unsignedShape = {
  v: z.literal(INTENT_VERSION),
  orderId: bytes32Schema,
  account: addressSchema,
  /** Informational: the enclave reads the institution from the registry. */
  orgId: bytes32Schema,
  side: sideSchema,
  /** A ticker, or `USDC` for a withdrawal or a deposit of cash. */
  symbol: symbolSchema,
  /** USDC base units, or share base units for a withdrawal of shares. */
  maxSpend: uint256Schema,
  /** Unix seconds; equal to the order's on-chain deadline. */
  expiry: timestampSchema,
  /** Strictly above the portfolio's nonce; at most 2^53 − 1. */
  nonce: z.int().min(0),
  userPubKey: publicKeySchema,
}

/** An intent before it is signed. */
export const unsignedIntentSchema = z.strictObject(unsignedShape)
export type UnsignedIntent = z.output<typeof unsignedIntentSchema>

/** The content of an order's envelope. Decode JSON with `.parse`, encode with `z.encode`. */
export const intentSchema = z.strictObject({ ...unsignedShape, sig: signatureSchema })
export type Intent = z.output<typeof intentSchema>

export const intentTypes = {
  Intent: [
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
  ],
}

/** The EIP-712 digest that the employee's wallet signs. */
export function intentDigest(intent: UnsignedIntent, domain: IntentDomain): Hex {
  return typedDataDigest(intentDomain(domain), intentTypes, intent)
}

/** Seals an intent to the enclave's key. */
export function sealIntent(intent: Intent, enclavePublicKey: Hex): Promise<Envelope> {
  return seal(z.encode(intentSchema, intent), enclavePublicKey, ORDER_PLACE)
}

/** Opens an order's envelope with the enclave's key; does not check the signature. @throws ProtocolError, ZodError */
export async function openIntent(envelope: Envelope, privateKey: Bytes): Promise<Intent> {
  return intentSchema.parse(await open(envelope, privateKey, ORDER_PLACE))
}
