// ECIES over secp256k1 (SEC 1, 5.1) with HKDF-SHA256 (RFC 5869) and AES-256-GCM (NIST SP 800-38D).
import { decryptGcm, encryptGcm, IV_BYTES } from './aesGcm.js'
import { ENVELOPE_SCHEME } from './envelopeForm.js'
import { type Bytes, bytesToHex, concatBytes, type Hex, hexToBytes } from './hex.js'
import { hkdf } from './hkdf.js'
import { keccak256 } from './keccak.js'
import { agreement, type KeyAgreement } from './keyAgreement.js'
import { decodePadded, encodePadded } from './plaintext.js'
import { compressPoint } from './publicKey.js'

const PADDING_BYTES = 256
const PORTFOLIO_PADDING_BYTES = 512

/** The purpose of an envelope. An envelope opens only for its own purpose. */
type EnvelopeKind =
  | 'order'
  | 'policy'
  | 'cancel'
  | 'portfolio'
  | 'notice'
  | 'rulebook-copy'
  | 'resolution'
  | 'share-of-holder'
  | 'share-for-enclave'
  | 'broker-keys-for-enclave'
  | 'report-for-owner'

/** Kind and context go into the additional authenticated data: `utf8(kind) ‖ context`. */
export interface EnvelopePlace {
  kind: EnvelopeKind
  /**
   * Empty for orders and rulebooks, `orderId` for a notice, `accountId ‖ uint64be(version)` for a portfolio; for a
   * cancel see `CancelIntent`, for a rulebook's copy `RulebookCopy`, for a resolution `Resolution`, for a share `MasterShare`, for the
   * broker's keys `BrokerKeys`, for a report `sealReport`.
   */
  context: Bytes
}

/** A sealed message. Every member is `0x` hex. */
export interface Envelope {
  /** Ephemeral public key: 33 bytes (65 accepted). */
  epk: Hex
  /** 12 bytes. */
  iv: Hex
  ct: Hex
  /** 16 bytes. */
  tag: Hex
}

/** The place of every sealed order. */
export const ORDER_PLACE: EnvelopePlace = { kind: 'order', context: new Uint8Array() }
/** The place of every sealed rulebook. */
export const POLICY_PLACE: EnvelopePlace = { kind: 'policy', context: new Uint8Array() }

/** `commit = keccak256(ct)`: binds the on-chain order to this envelope. */
export function commitOf(envelope: Pick<Envelope, 'ct'>): Hex {
  return keccak256(hexToBytes(envelope.ct))
}

/** The two values that must be fresh for every envelope. Pass them only to reproduce a test vector. */
export interface EnvelopeRandomness {
  ephemeralKey: Bytes
  iv: Bytes
}

/**
 * Seals a JSON value to a public key, padded to hide its length.
 * @param recipient secp256k1 public key, 33 or 65 bytes
 * @param previous padded bytes of the plaintext that this one replaces, see `encodePadded`
 */
export function seal(
  value: unknown,
  recipient: Hex,
  place: EnvelopePlace,
  randomness?: EnvelopeRandomness,
  previous = 0,
): Promise<Envelope> {
  const block = place.kind === 'portfolio' ? PORTFOLIO_PADDING_BYTES : PADDING_BYTES
  return sealBytes(encodePadded(value, block, previous), recipient, place, randomness)
}

/** An order sealed to a public key, and the key of its content. */
export function sealOrderWithKey(value: unknown, recipient: Hex, randomness?: EnvelopeRandomness) {
  return sealWithKey(encodePadded(value, PADDING_BYTES), recipient, ORDER_PLACE, randomness)
}

/** Seals bytes to a public key: as many as the ciphertext will have. */
export async function sealBytes(...sealing: Parameters<typeof sealWithKey>): Promise<Envelope> {
  return (await sealWithKey(...sealing)).envelope
}

/** Seals bytes as `sealBytes` does, and returns the key of the content too, which opens this envelope alone. */
async function sealWithKey(
  plaintext: Bytes,
  recipient: Hex,
  place: EnvelopePlace,
  randomness?: EnvelopeRandomness,
): Promise<{ readonly envelope: Envelope; readonly contentKey: Hex }> {
  const own = agreement(randomness?.ephemeralKey)
  const peer = compressPoint(recipient)
  const iv = randomness?.iv ?? crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const key = await keyOf(own, peer, { epk: own.publicKey, recipient: peer })
  const { ct, tag } = await encryptGcm({ key, iv, aad: aadOf(place) }, plaintext)
  const [epk, contentKey] = [bytesToHex(own.publicKey), bytesToHex(key)]
  return { envelope: { epk, iv: bytesToHex(iv), ct: bytesToHex(ct), tag: bytesToHex(tag) }, contentKey }
}

/**
 * Opens an envelope with the recipient's private key and returns its JSON value, unvalidated.
 * @throws ProtocolError `undecryptable`, `invalid-point`, `invalid-plaintext`
 */
export async function open(envelope: Envelope, privateKey: Bytes, place: EnvelopePlace): Promise<unknown> {
  return decodePadded(await openBytes(envelope, privateKey, place))
}

/**
 * The bytes in an envelope, with their padding.
 * @throws ProtocolError `undecryptable`, `invalid-point`
 */
export async function openBytes(envelope: Envelope, privateKey: Bytes, place: EnvelopePlace): Promise<Bytes> {
  const peer = compressPoint(envelope.epk)
  const own = agreement(privateKey)
  const key = await keyOf(own, peer, { epk: peer, recipient: own.publicKey })
  const gcm = { key, iv: hexToBytes(envelope.iv), aad: aadOf(place) }
  return decryptGcm(gcm, hexToBytes(envelope.ct), hexToBytes(envelope.tag))
}

/**
 * Opens an envelope by the key of its content, which tells nothing of the recipient's key or of any other envelope.
 * @throws ProtocolError `undecryptable`, `invalid-plaintext`
 */
export async function openWithKey(
  { iv, ct, tag }: Omit<Envelope, 'epk'>,
  contentKey: Hex,
  place: EnvelopePlace,
): Promise<unknown> {
  const gcm = { key: hexToBytes(contentKey), iv: hexToBytes(iv), aad: aadOf(place) }
  return decodePadded(await decryptGcm(gcm, hexToBytes(ct), hexToBytes(tag)))
}

/** @param keys both in compressed form */
function keyOf(
  own: KeyAgreement,
  peer: Bytes,
  keys: { readonly epk: Uint8Array; readonly recipient: Uint8Array },
): Promise<Bytes> {
  const info = concatBytes(utf8(ENVELOPE_SCHEME), keys.epk, keys.recipient)
  return hkdf(Uint8Array.from(own.sharedX(peer)), new Uint8Array(), info, 32)
}

function aadOf({ kind, context }: EnvelopePlace): Bytes {
  return concatBytes(utf8(kind), context)
}

function utf8(text: string): Bytes {
  return new TextEncoder().encode(text)
}
