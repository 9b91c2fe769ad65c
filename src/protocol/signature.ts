import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { hashes, recoverPublicKey, sign } from '@noble/secp256k1'
import { sameAddress } from './address.js'
import { ProtocolError } from './errors.js'
import {
  assertLength,
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexOf,
  hexToBytes,
  uintToBytes,
} from './hex.js'
import { addressOfPoint } from './publicKey.js'

// noble needs a hash for RFC 6979 nonces.
hashes.sha256 = sha256
hashes.hmacSha256 = (key, message) => hmac(sha256, key, message)

/** Order of the secp256k1 group (SEC 2, 2.4.1). */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The first recovery id of a v. */
const V_OFFSET = 27

/** 65 bytes `r ‖ s ‖ v`. */
export const signatureSchema = hexOf(65)

/**
 * Checks the only form that the contracts accept: 65 bytes, `v` 27 or 28, `0 < r < n`, `0 < s ≤ n/2` (EIP-2).
 * @throws ProtocolError `invalid-signature`
 */
export function splitSignature(signature: Hex): { r: Uint8Array; s: Uint8Array; v: 27 | 28 } {
  const bytes = hexToBytes(signature)
  assertLength('signature', bytes, 65)
  const r = bytes.subarray(0, 32)
  const s = bytes.subarray(32, 64)
  const v = bytes[64]
  if (v !== 27 && v !== 28) throw new ProtocolError('invalid-signature', 'signature "v" must be 27 or 28')
  const rValue = bytesToUint(r)
  const sValue = bytesToUint(s)
  if (rValue === 0n || rValue >= CURVE_ORDER)
    throw new ProtocolError('invalid-signature', 'signature "r" is out of range')
  if (sValue === 0n || sValue > CURVE_ORDER / 2n) {
    throw new ProtocolError('invalid-signature', 'signature "s" must be in the lower half (EIP-2)')
  }
  return { r, s, v }
}

/**
 * Normalizes a wallet's signature: `s` in the lower half, `v` 27 or 28. Wallets differ in both.
 * @throws ProtocolError `invalid-signature`, `invalid-bytes`
 */
export function normalizeSignature(signature: Hex): Hex {
  const bytes = hexToBytes(signature)
  assertLength('signature', bytes, 65)
  const s = bytesToUint(bytes.subarray(32, 64))
  const v = bytes[64] ?? 0
  const parity = v >= V_OFFSET ? v - V_OFFSET : v
  if (s >= CURVE_ORDER || parity > 1) {
    throw new ProtocolError('invalid-signature', 'signature "s" or "v" is out of range')
  }
  const [low, odd] = s <= CURVE_ORDER / 2n ? [s, parity] : [CURVE_ORDER - s, parity ^ 1]
  return bytesToHex(concatBytes(bytes.subarray(0, 32), uintToBytes(low, 32), Uint8Array.of(V_OFFSET + odd)))
}

/**
 * The address that signed `digest`. @throws ProtocolError `invalid-signature`
 */
export function recoverAddress(digest: Hex, signature: Hex): Hex {
  const { r, s, v } = splitSignature(signature)
  const hash = hexToBytes(digest)
  assertLength('digest', hash, 32)
  try {
    const form = concatBytes(Uint8Array.of(v - V_OFFSET), r, s)
    return addressOfPoint(recoverPublicKey(form, hash, { prehash: false, isCompressed: false }))
  } catch {
    throw new ProtocolError('invalid-signature', 'the signature recovers to no key')
  }
}

/** Throws unless `signer` signed `digest`. @throws ProtocolError `invalid-signature`, `wrong-signer` */
export function assertSignedBy(signer: Hex, digest: Hex, signature: Hex): void {
  if (!sameAddress(recoverAddress(digest, signature), signer)) {
    throw new ProtocolError('wrong-signer', 'the signature belongs to another key')
  }
}

/** Deterministic (RFC 6979), low-s signature of a 32-byte digest: `r ‖ s ‖ v`. */
export function signDigest(digest: Hex, privateKey: Hex): Hex {
  const hash = hexToBytes(digest)
  const form = sign(hash, hexToBytes(privateKey), { prehash: false, format: 'recovered' })
  return bytesToHex(concatBytes(form.subarray(1), Uint8Array.of(V_OFFSET + (form[0] ?? 0))))
}
