import * as z from 'zod'
import { type Envelope, policyEnvelopeSchema } from './envelope.js'
import { bytes32Schema, concatBytes, type Hex, hexToBytes } from './hex.js'
import { type IntentDomain, intentDomain } from './intentDomain.js'
import { keccak256 } from './keccak.js'
import { signatureSchema } from './signature.js'
import { typedDataDigest } from './typedData.js'

/** The institution of a rulebook's envelope, with its admin's signature over the envelope. */
export const rulebookAuthorSchema = z.strictObject({ orgId: bytes32Schema, sig: signatureSchema })
export type RulebookAuthor = z.output<typeof rulebookAuthorSchema>

/** The body of `POST /policy`. With `author` it waits in its institution's own queue, otherwise in its client's. */
export const postPolicySchema = policyEnvelopeSchema.extend({ author: rulebookAuthorSchema.optional() })
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

/** The EIP-712 digest that the admin's wallet signs outside the seal, in the domain of the intents. */
export function sealedRulebookDigest(
  sealed: { readonly orgId: Hex; readonly envelopeHash: Hex },
  domain: IntentDomain,
): Hex {
  return typedDataDigest(intentDomain(domain), sealedRulebookTypes, { ...sealed })
}
