import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { decodePolicy, encodePolicy } from './compactPolicy.js'
import { type Envelope, openBytes, POLICY_PLACE, sealBytes } from './envelope.js'
import { MAX_POLICY_BYTES } from './envelopeForm.js'
import {
  type Bytes,
  bytes32Schema,
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexLength,
  hexToBytes,
  uintToBytes,
} from './hex.js'
import { INTENT_VERSION } from './intent.js'
import { type IntentDomain, intentDomain } from './intentDomain.js'
import { decodePadded } from './plaintext.js'
import { type Policy, policyHash, policySchema } from './policy.js'
import { accountSignatureSchema, MAX_SIGNATURE_BYTES } from './signature.js'
import { typedDataDigest } from './typedData.js'

const unsignedShape = {
  v: z.literal(INTENT_VERSION),
  orgId: bytes32Schema,
  admin: addressSchema,
  policy: policySchema,
  /** The institution's policy version on chain + 1: the replay guard. */
  version: z.int().check(z.minimum(1)),
}

/** A rulebook before its admin signs it. */
export type UnsignedRulebook = z.output<z.ZodMiniObject<typeof unsignedShape>>

/** The content of a rulebook's envelope. Decode JSON with `.parse`, encode with `z.encode`. */
export const rulebookSchema = z.strictObject({ ...unsignedShape, sig: accountSignatureSchema })
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

/** The typed-data message of a rulebook, with the policy's hash. */
export function policyIntentMessage(
  { v, orgId, admin, policy, version }: UnsignedRulebook,
  hash = policyHash(policy),
) {
  return { v, orgId, admin, policyHash: hash, version }
}

/** The EIP-712 digest that the admin's wallet signs. @param hash the policy's, where it is known */
export function policyIntentDigest(rulebook: UnsignedRulebook, domain: IntentDomain, hash?: Hex): Hex {
  return typedDataDigest(intentDomain(domain), policyIntentTypes, policyIntentMessage(rulebook, hash))
}

/**
 * `0x01 ‖ orgId ‖ admin ‖ uint64be(version) ‖ sig`, in front of the policy's encoding. A signature that is not of 65 bytes, of a contract
 * wallet, has `0x02` and its length: `0x02 ‖ orgId ‖ admin ‖ uint64be(version) ‖ uint16be(length) ‖ sig`.
 */
const [FORMAT, FORMAT_OF_CONTRACT] = [0x01, 0x02]
const [ORG_AT, ADMIN_AT, VERSION_AT, SIG_AT, POLICY_AT] = [1, 33, 53, 61, 126]
const LENGTH_BYTES = 2

/**
 * The plaintext in which a rulebook is sealed: the policy's encoding, so that its length shows no more.
 * @throws ProtocolError `invalid-bytes` for a policy that is too long
 */
export function encodeRulebook({ orgId, admin, version, sig, policy }: Rulebook): Bytes {
  const [author, signature] = [concatBytes(hexToBytes(orgId), hexToBytes(admin)), hexToBytes(sig)]
  const isOfKey = signature.length === POLICY_AT - SIG_AT
  return concatBytes(
    Uint8Array.of(isOfKey ? FORMAT : FORMAT_OF_CONTRACT),
    ...[author, uintToBytes(BigInt(version), 8)],
    ...(isOfKey ? [] : [uintToBytes(BigInt(signature.length), LENGTH_BYTES)]),
    ...[signature, encodePolicy(policy)],
  )
}

/**
 * The rulebook in a plaintext: encoded, or as the JSON that it is signed over.
 * @throws ProtocolError `invalid-plaintext`; ZodError if the JSON holds no rulebook
 */
export function decodeRulebook(bytes: Bytes): Rulebook {
  const [format] = bytes
  if (format !== FORMAT && format !== FORMAT_OF_CONTRACT) return rulebookSchema.parse(decodePadded(bytes))
  const [sigAt, policyAt] = format === FORMAT ? [SIG_AT, POLICY_AT] : placeOfContract(bytes)
  const policy = decodePolicy(bytes.slice(policyAt))
  const hexAt = (start: number, end: number) => bytesToHex(bytes.subarray(start, end))
  return rulebookSchema.parse({
    v: INTENT_VERSION,
    orgId: hexAt(ORG_AT, ADMIN_AT),
    admin: hexAt(ADMIN_AT, VERSION_AT),
    version: Number(bytesToUint(bytes.subarray(VERSION_AT, SIG_AT))),
    sig: hexAt(sigAt, policyAt),
    policy: z.encode(policySchema, policy),
  })
}

/** Where a contract wallet's signature begins, and where the policy's encoding. */
function placeOfContract(bytes: Bytes): [sigAt: number, policyAt: number] {
  const sigAt = SIG_AT + LENGTH_BYTES
  return [sigAt, sigAt + Number(bytesToUint(bytes.subarray(SIG_AT, sigAt)))]
}

/** Whether a policy's rulebook fits its envelope, whoever signs it. */
export function fitsEnvelope(policy: Policy): boolean {
  try {
    return SIG_AT + LENGTH_BYTES + MAX_SIGNATURE_BYTES + encodePolicy(policy).length <= MAX_POLICY_BYTES
  } catch {
    return false
  }
}

/** Bytes of the policy's encoding in an encoded rulebook's envelope. */
export function encodedBytesOf({ ct }: Pick<Envelope, 'ct'>): number {
  return hexLength(ct) - POLICY_AT
}

/** Seals a rulebook to the enclave's key. */
export function sealRulebook(rulebook: Rulebook, enclavePublicKey: Hex): Promise<Envelope> {
  return sealBytes(encodeRulebook(rulebook), enclavePublicKey, POLICY_PLACE)
}

/**
 * Opens a rulebook's envelope with the enclave's key; does not check the signature.
 * @throws ProtocolError if the envelope does not open, or holds no encoded rulebook; ZodError if its JSON is no rulebook
 */
export async function openRulebook(envelope: Envelope, privateKey: Bytes): Promise<Rulebook> {
  return decodeRulebook(await openBytes(envelope, privateKey, POLICY_PLACE))
}
