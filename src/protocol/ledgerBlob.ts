import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { decryptGcm, encryptGcm, IV_BYTES, TAG_BYTES } from './aesGcm.js'
import { ProtocolError } from './errors.js'
import {
  assertLength,
  type Bytes,
  bytesToHex,
  concatBytes,
  type Hex,
  hexLength,
  hexToBytes,
  uintToBytes,
  ZERO_BYTES32,
} from './hex.js'
import { keccak256 } from './keccak.js'
import { decodePadded, encodePadded } from './plaintext.js'

const FORMAT = 0x01
const PADDING_BYTES = 512
/** The longest of a portfolio's two blobs that a relay takes. */
export const MAX_PORTFOLIO_BLOB_BYTES = 20_480
/** Of its plaintext, with padding: so many blocks, and the header of either blob, are below that. */
export const MAX_PORTFOLIO_BYTES = 39 * PADDING_BYTES
const HEADER_BYTES = 1 + IV_BYTES + TAG_BYTES
const SALT = new TextEncoder().encode('service-ledger-v1')

/** `k_account` or `orgKey`: HKDF-SHA256 (RFC 5869) of the 32-byte master key. */
export function ledgerKey(masterKey: Bytes, owner: 'account' | 'org', id: Hex): Bytes {
  assertLength('master key', masterKey, 32)
  const info = concatBytes(new TextEncoder().encode(owner), hexToBytes(id))
  return Uint8Array.from(hkdf(sha256, masterKey, SALT, info, 32))
}

/** The location of a blob. It opens under no other id, version, ledger or chain. */
export interface BlobPlace {
  chainId: number
  /** Address of `ConfidentialLedger`. */
  ledger: Hex
  /** `accountId` or `orgId`. */
  id: Hex
  version: bigint
}

/**
 * `0x01 ‖ iv(12) ‖ tag(16) ‖ ct` of a JSON value, as `enclaveBlob` is stored.
 * @param previous padded bytes of the plaintext that it replaces, see {@link paddedBytesOf}
 */
export function sealBlob(
  value: unknown,
  key: Bytes,
  place: BlobPlace,
  iv?: Bytes,
  previous = 0,
): Promise<Hex> {
  return sealBlobBytes(encodePadded(value, PADDING_BYTES, previous), key, place, iv)
}

/** The same of bytes, as `policyBlob` is stored. */
export async function sealBlobBytes(
  plaintext: Bytes,
  key: Bytes,
  place: BlobPlace,
  iv: Bytes = crypto.getRandomValues(new Uint8Array(IV_BYTES)),
): Promise<Hex> {
  const { ct, tag } = await encryptGcm({ key, iv, aad: aadOf(place) }, plaintext)
  return bytesToHex(concatBytes(Uint8Array.of(FORMAT), iv, tag, ct))
}

/**
 * Opens a stored blob and returns its JSON value, unvalidated.
 * @throws ProtocolError `undecryptable`, `invalid-bytes`
 */
export async function openBlob(blob: Hex, key: Bytes, place: BlobPlace): Promise<unknown> {
  return decodePadded(await openBlobBytes(blob, key, place))
}

/**
 * The bytes in a stored blob, with their padding.
 * @throws ProtocolError `undecryptable`, `invalid-bytes`
 */
export async function openBlobBytes(blob: Hex, key: Bytes, place: BlobPlace): Promise<Bytes> {
  const bytes = hexToBytes(blob)
  if (bytes.length <= HEADER_BYTES || bytes[0] !== FORMAT) {
    throw new ProtocolError('invalid-bytes', 'not a blob of format 1')
  }
  const iv = bytes.slice(1, 1 + IV_BYTES)
  const tag = bytes.slice(1 + IV_BYTES, HEADER_BYTES)
  return decryptGcm({ key, iv, aad: aadOf(place) }, bytes.slice(HEADER_BYTES), tag)
}

/** A transaction of 2^24 gas writes some 75,000 bytes of code. This many hold a size class of 65,536 with its header. */
export const MAX_PART_BYTES = 65_600

/** The parts in which a rulebook's blob is written, of about one length, and the ledger's running hash of them. */
export function partsOf(blob: Hex): { readonly parts: readonly Hex[]; readonly digest: Hex } {
  const bytes = hexToBytes(blob)
  const { partBytes: length } = partsOfLength(bytes.length - HEADER_BYTES)
  const parts: Hex[] = []
  let digest = ZERO_BYTES32
  for (let from = 0; from < bytes.length; from += length) {
    const part = bytes.subarray(from, from + length)
    parts.push(bytesToHex(part))
    digest = keccak256(concatBytes(hexToBytes(digest), hexToBytes(keccak256(part))))
  }
  return { parts, digest }
}

/** The number of parts of a rulebook whose encoding has so many bytes, and the bytes of each but the last. */
export function partsOfLength(encodedBytes: number): { readonly parts: number; readonly partBytes: number } {
  const bytes = HEADER_BYTES + encodedBytes
  const parts = Math.ceil(bytes / MAX_PART_BYTES)
  return { parts, partBytes: Math.ceil(bytes / parts) }
}

/** The `iv` of a blob, of which the header is there at least. */
export function ivOf(blob: Hex): Bytes {
  return hexToBytes(blob).slice(1, 1 + IV_BYTES)
}

/** Bytes of the padded plaintext in a stored blob; 0 for `0x`. */
export function paddedBytesOf(blob: Hex): number {
  return Math.max(0, hexLength(blob) - HEADER_BYTES)
}

/**
 * The ledger's running hash of a portfolio after one more write:
 * `keccak256(abi.encode(previous, version, keccak256(enclaveBlob), keccak256(userBlob)))`.
 */
export function portfolioHashAfter(
  previous: Hex,
  { version, enclaveBlob, userBlob }: { version: bigint; enclaveBlob: Hex; userBlob: Hex },
): Hex {
  const blobs = [enclaveBlob, userBlob].map((blob) => hexToBytes(keccak256(hexToBytes(blob))))
  return keccak256(concatBytes(hexToBytes(previous), uintToBytes(version, 32), ...blobs))
}

/** `uint256be(chainId) ‖ ledger address ‖ id ‖ uint64be(version)`. */
function aadOf({ chainId, ledger, id, version }: BlobPlace): Bytes {
  return concatBytes(
    uintToBytes(BigInt(chainId), 32),
    hexToBytes(ledger),
    hexToBytes(id),
    uintToBytes(version, 8),
  )
}
