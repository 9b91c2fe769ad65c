import { etc, Point, recoverPublicKey } from '@noble/secp256k1'
import { sameAddress } from './address.js'
import { ProtocolError } from './errors.js'
import {
  assertLength,
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexBetween,
  hexOf,
  hexToBytes,
  uintToBytes,
} from './hex.js'
import { addressOfPoint } from './publicKey.js'

/** Order of the secp256k1 group (SEC 2, 2.4.1). */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The `v` of the first recovery id. */
export const V_OFFSET = 27

/** 65 bytes `r ‖ s ‖ v`. */
export const signatureSchema = hexOf(65)

/** The longest signature of a contract wallet: a Safe of ten owners has 650 bytes, a passkey some 600. */
export const MAX_SIGNATURE_BYTES = 1_024
/** What an account signs with: 65 bytes of its key, or what its contract takes (ERC-1271). */
export const accountSignatureSchema = hexBetween(1, MAX_SIGNATURE_BYTES)

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
  return addressOfPoint(recoverPoint(digest, signature))
}

function recoverPoint(digest: Hex, signature: Hex): Uint8Array {
  const { r, s, v } = splitSignature(signature)
  const hash = digestBytes(digest)
  try {
    const form = concatBytes(Uint8Array.of(v - V_OFFSET), r, s)
    return recoverPublicKey(form, hash, { prehash: false, isCompressed: false })
  } catch {
    throw new ProtocolError('invalid-signature', 'the signature recovers to no key')
  }
}

function digestBytes(digest: Hex): Uint8Array {
  const bytes = hexToBytes(digest)
  assertLength('digest', bytes, 32)
  return bytes
}

/** Throws unless `signer` signed `digest`. @throws ProtocolError `invalid-signature`, `wrong-signer` */
export function assertSignedBy(signer: Hex, digest: Hex, signature: Hex): void {
  assertSigner(signer, recoverPoint(digest, signature))
}

/** Whether the account's own key signed a digest. */
export function isSignedByKey(account: Hex, digest: Hex, signature: Hex): boolean {
  try {
    assertSignedBy(account, digest, signature)
    return true
  } catch (error) {
    if (error instanceof ProtocolError) return false
    throw error
  }
}

function assertSigner(signer: Hex, key: Uint8Array): void {
  if (!sameAddress(addressOfPoint(key), signer)) throw wrongSigner()
}

function wrongSigner(): ProtocolError {
  return new ProtocolError('wrong-signer', 'the signature belongs to another key')
}

/**
 * Does what `assertSignedBy` does for one signer, at a fifth of its cost. The first good signature gives away the signer's public key `Q`.
 * Later ones recover to `Q` exactly if `s⁻¹(hG + rQ)` is the point that `r` and `v` name (SEC 1, 4.1.6), and the multiples of `Q` are tabled.
 */
export function createSignerCheck(signer: Hex): (digest: Hex, signature: Hex) => void {
  let timesKey: ((scalar: bigint) => Point) | undefined
  return (digest, signature) => {
    if (timesKey === undefined) {
      const key = recoverPoint(digest, signature)
      assertSigner(signer, key)
      timesKey = tableOf(Point.fromBytes(key))
      return
    }
    const { r, s, v } = splitSignature(signature)
    const hash = bytesToUint(digestBytes(digest))
    const x = bytesToUint(r)
    const inverse = etc.invert(bytesToUint(s), CURVE_ORDER)
    const ofBase = Point.BASE.multiplyUnsafe((hash * inverse) % CURVE_ORDER)
    const point = ofBase.add(timesKey((x * inverse) % CURVE_ORDER)).toAffine()
    if (point.x !== x || Number(point.y & 1n) !== v - V_OFFSET) throw wrongSigner()
  }
}

/** Multiplies `point` by public scalars: an addition for each byte, so that its running time depends on the scalar. */
function tableOf(point: Point): (scalar: bigint) => Point {
  let unit = point
  const rows = Array.from({ length: 32 }, () => {
    const row = [Point.ZERO]
    let multiple = unit
    for (; row.length < 256; multiple = multiple.add(unit)) row.push(multiple)
    unit = multiple
    return row
  }).reverse()
  return (scalar) => {
    const digits = uintToBytes(scalar, 32)
    return rows.reduce((sum, row, at) => sum.add(row[digits[at] ?? 0] ?? Point.ZERO), Point.ZERO)
  }
}
