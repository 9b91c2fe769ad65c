import * as z from 'zod'
import { addressSchema } from './address.js'
import { type Envelope, MAX_POLICY_BYTES, open, POLICY_PLACE, seal } from './envelope.js'
import { type Bytes, bytes32Schema, type Hex } from './hex.js'
import { INTENT_VERSION } from './intent.js'
import { type IntentDomain, intentDomain } from './intentDomain.js'
import { policyHash, policySchema } from './policy.js'
import { signatureSchema } from './signature.js'
import { typedDataDigest } from './typedData.js'

const unsignedShape = {
  v: z.literal(INTENT_VERSION),
  orgId: bytes32Schema,
  admin: addressSchema,
  policy: policySchema,
  /** The institution's policy version on chain + 1: the replay guard. */
  version: z.int().min(1),
}

/** A rulebook before its admin signs it. */
export type UnsignedRulebook = z.output<z.ZodObject<typeof unsignedShape>>

/** The content of a rulebook's envelope. Decode JSON with `.parse`, encode with `z.encode`. */
export const rulebookSchema = z.strictObject({ ...unsignedShape, sig: signatureSchema })
export type Rulebook = z.output<typeof rulebookSchema>

export const policyIntentTypes = {
  PolicyIntent: [
    { name: 'v', type: 'uint256' },
    { name: 'orgId', type: 'bytes32' },
    { name: 'admin', type: 'address' },
    { name: 'policyHash', type: 'bytes32' },
    { name: 'version', type: 'uint256' },
  ],
}

/** The typed-data message of a rulebook; it contains the policy's hash. */
export function policyIntentMessage({ v, orgId, admin, policy, version }: UnsignedRulebook) {
  return { v, orgId, admin, policyHash: policyHash(policy), version }
}

/** The EIP-712 digest that the admin's wallet signs. */
export function policyIntentDigest(rulebook: UnsignedRulebook, domain: IntentDomain): Hex {
  return typedDataDigest(intentDomain(domain), policyIntentTypes, policyIntentMessage(rulebook))
}

/** As long as any signature. */
const UNSIGNED: Hex = `0x${'00'.repeat(65)}`

/**
 * Whether the sealed rulebook stays within `MAX_POLICY_BYTES`: the ciphertext is as long as the padded JSON, and the
 * limit is a multiple of the padding. Needs no signature, because all have the same length.
 */
export function fitsEnvelope(unsigned: UnsignedRulebook): boolean {
  const rulebook = z.encode(rulebookSchema, { ...unsigned, sig: UNSIGNED })
  return new TextEncoder().encode(JSON.stringify(rulebook)).length <= MAX_POLICY_BYTES
}

/** Seals a rulebook to the enclave's key. */
export function sealRulebook(rulebook: Rulebook, enclavePublicKey: Hex): Promise<Envelope> {
  return seal(z.encode(rulebookSchema, rulebook), enclavePublicKey, POLICY_PLACE)
}

/**
 * Opens a rulebook's envelope with the enclave's key; does not check the signature.
 * @throws ProtocolError if the envelope does not open; ZodError if it holds no rulebook
 */
export async function openRulebook(envelope: Envelope, privateKey: Bytes): Promise<Rulebook> {
  return rulebookSchema.parse(await open(envelope, privateKey, POLICY_PLACE))
}
