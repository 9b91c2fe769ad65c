import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { type EnvelopePlace, type EnvelopeRandomness, openBytes, sealBytes } from './envelope.js'
import { policyEnvelopeSchema } from './envelopeForm.js'
import { ProtocolError } from './errors.js'
import { type Bytes, bytes32Schema, concatBytes, type Hex, hexToBytes, uintToBytes } from './hex.js'
import { chainIdSchema } from './identifiers.js'
import { domainBytes, type IntentDomain } from './intentDomain.js'
import { decodeRulebook, encodeRulebook, type Rulebook } from './policyIntent.js'
import { postPolicySchema } from './sealedRulebook.js'

/**
 * A published rulebook, sealed to its author's portfolio key, because only the enclave can open the one on chain. The
 * rulebook's identifiers are readable, and the seal is bound to them. Encode with `z.encode`.
 */
export const rulebookCopySchema = z.strictObject({
  format: z.literal('service-rulebook-copy-v1'),
  chainId: chainIdSchema,
  escrow: addressSchema,
  orgId: bytes32Schema,
  version: z.int().check(z.minimum(1)),
  envelope: policyEnvelopeSchema,
})
export type RulebookCopy = z.output<typeof rulebookCopySchema>

/**
 * A rulebook on its way: the body of `POST /policy`, and the copy of it. Kept from before the first post, it lets a later run of the
 * program post the same envelope again. Its copy is of the rulebook in force once the server has answered 200, and of none before.
 * Encode with `z.encode`.
 */
export const publicationSchema = z.strictObject({
  version: z.int().check(z.minimum(1)),
  body: z.required(postPolicySchema, { author: true }),
  copy: z.nullable(rulebookCopySchema),
})
export type Publication = z.output<typeof publicationSchema>

/** @param randomness pass only to reproduce a test vector */
export async function sealRulebookCopy(
  rulebook: Rulebook,
  publicKey: Hex,
  { chainId, escrow }: IntentDomain,
  randomness?: EnvelopeRandomness,
): Promise<RulebookCopy> {
  const name = { chainId, escrow, orgId: rulebook.orgId, version: rulebook.version }
  const envelope = await sealBytes(encodeRulebook(rulebook), publicKey, placeOf(name), randomness)
  return { format: 'service-rulebook-copy-v1', ...name, envelope }
}

/**
 * The rulebook in a copy. Its admin's signature is unchecked, and anyone can seal to a public key.
 * @throws ProtocolError if the copy does not open; ZodError if it holds no rulebook
 */
export async function openRulebookCopy(copy: RulebookCopy, privateKey: Bytes): Promise<Rulebook> {
  const rulebook = decodeRulebook(await openBytes(copy.envelope, privateKey, placeOf(copy)))
  if (rulebook.orgId !== copy.orgId || rulebook.version !== copy.version) {
    throw new ProtocolError(
      'invalid-plaintext',
      'the copy holds a rulebook of another institution or version',
    )
  }
  return rulebook
}

/** The context is `uint256be(chainId) ‖ escrow ‖ orgId ‖ uint64be(version)`. */
function placeOf({ orgId, version, ...domain }: Omit<RulebookCopy, 'format' | 'envelope'>): EnvelopePlace {
  const context = concatBytes(domainBytes(domain), hexToBytes(orgId), uintToBytes(BigInt(version), 8))
  return { kind: 'rulebook-copy', context }
}
