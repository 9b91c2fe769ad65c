// A share of the ledger's master key: what its holder keeps, and gives an attested enclave at its start.
import { sha256 } from '@noble/hashes/sha2.js'
import * as z from 'zod/mini'
import { type Envelope, type EnvelopePlace, type EnvelopeRandomness, open, seal } from './envelope.js'
import { ProtocolError } from './errors.js'
import { type Bytes, bytes32Schema, bytesToHex, concatBytes, type Hex, hexOf } from './hex.js'
import { domainBytes, type IntentDomain } from './intentDomain.js'

/** Shares of one master key, at most. */
export const MAX_HOLDERS = 16
/** A secret of 32 bytes, and the share's x coordinate. */
const SHARE_BYTES = 33

export const masterShareSchema = z.strictObject({
  v: z.literal(1),
  /** `masterDigest` of the key that the shares make. */
  master: bytes32Schema,
  /** Shares that make the key. Fewer tell nothing of it. */
  threshold: z.int().check(z.minimum(2), z.maximum(MAX_HOLDERS)),
  share: hexOf(SHARE_BYTES),
})
export type MasterShare = z.output<typeof masterShareSchema>

/** Its holder, who keeps it; or an enclave that is starting, which has shown evidence of its key. */
type ShareRecipient = 'share-of-holder' | 'share-for-enclave'

function placeOf(kind: ShareRecipient, domain: IntentDomain): EnvelopePlace {
  return { kind, context: domainBytes(domain) }
}

/** Names a master key without telling it: `0x` and the SHA-256 of a label and the key. @param master 32 bytes */
export function masterDigest(master: Bytes): Hex {
  return bytesToHex(sha256(concatBytes(new TextEncoder().encode('ledger-master-v1'), master)))
}

/** @param publicKey the holder's, or the one in the enclave's evidence; 33 or 65 bytes */
export function sealShare(
  share: MasterShare,
  publicKey: Hex,
  [kind, domain]: readonly [ShareRecipient, IntentDomain],
  randomness?: EnvelopeRandomness,
): Promise<Envelope> {
  return seal(share, publicKey, placeOf(kind, domain), randomness)
}

/** @throws ProtocolError `undecryptable`, `invalid-point`, `invalid-plaintext` */
export async function openShare(
  envelope: Envelope,
  privateKey: Bytes,
  [kind, domain]: readonly [ShareRecipient, IntentDomain],
): Promise<MasterShare> {
  const { data } = masterShareSchema.safeParse(await open(envelope, privateKey, placeOf(kind, domain)))
  if (data === undefined) throw new ProtocolError('invalid-plaintext', 'the plaintext is no share')
  return data
}
