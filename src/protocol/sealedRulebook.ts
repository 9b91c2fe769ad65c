import * as z from 'zod/mini'
import type { Envelope } from './envelope.js'
import { policyEnvelopeSchema } from './envelopeForm.js'
import { bytes32Schema, bytesToHex, concatBytes, type Hex, hexBetween, hexToBytes } from './hex.js'
import { type IntentDomain, intentDomain } from './intentDomain.js'
import { keccak256 } from './keccak.js'
import { accountSignatureSchema, MAX_SIGNATURE_BYTES } from './signature.js'
import { typedDataDigest } from './typedData.js'

/** The institution of a rulebook's envelope, with its admin's signature over the envelope. */
const rulebookAuthorSchema = z.strictObject({ orgId: bytes32Schema, sig: accountSignatureSchema })
type RulebookAuthor = z.output<typeof rulebookAuthorSchema>

/** The body of `POST /policy`. With `author` it waits in its institution's own queue, otherwise in its client's. */
export const postPolicySchema = z.extend(policyEnvelopeSchema, { author: z.optional(rulebookAuthorSchema) })
export type PostPolicy = z.output<typeof postPolicySchema>

export const sealedRulebookTypes = {
  SealedRulebook: [
    { name: 'orgId', type: 'bytes32' },
    { name: 'envelopeHash', type: 'bytes32' },
  ],
}

/** `keccak256(epk ‖ iv ‖ tag ‖ ct)` of the envelope's bytes as posted. */
export function envelopeHash({ epk, iv, tag, ct }: Envelope): Hex {
  return keccak256(concatBytes(hexToBytes(epk), hexToBytes(iv), hexToBytes(tag), hexToBytes(ct)))
}

/** The signature outside the seal, and what it is of. */
export interface RulebookClaim extends RulebookAuthor {
  readonly envelopeHash: Hex
}

/** The header of a body beyond the usual limit, which the server reads only for an admin: `orgId ‖ envelopeHash ‖ sig`. */
export const RULEBOOK_AUTHOR = 'Rulebook-Author'

const claimSchema = hexBetween(32 + 32 + 1, 32 + 32 + MAX_SIGNATURE_BYTES)

export function encodeClaim({ orgId, envelopeHash, sig }: RulebookClaim): Hex {
  return bytesToHex(concatBytes(hexToBytes(orgId), hexToBytes(envelopeHash), hexToBytes(sig)))
}

/** The claim in a header; undefined for any other text. */
export function decodeClaim(header: unknown): RulebookClaim | undefined {
  const { data } = claimSchema.safeParse(header)
  if (data === undefined) return undefined
  const bytes = hexToBytes(data)
  const part = (start: number, end: number) => bytesToHex(bytes.subarray(start, end))
  return { orgId: part(0, 32), envelopeHash: part(32, 64), sig: bytesToHex(bytes.subarray(64)) }
}

/** The EIP-712 digest that the admin's wallet signs outside the seal, in the domain of the intents. */
export function sealedRulebookDigest(
  sealed: { readonly orgId: Hex; readonly envelopeHash: Hex },
  domain: IntentDomain,
): Hex {
  return typedDataDigest(intentDomain(domain), sealedRulebookTypes, { ...sealed })
}
