// ECDSA-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }: RFC 3279, 2.2.3, in DER (X.690).
import { sameAddress } from '../../protocol/address.js'
import { ProtocolError } from '../../protocol/errors.js'
import { bytesToHex, bytesToUint, concatBytes, type Hex, uintToBytes } from '../../protocol/hex.js'
import { CURVE_ORDER, recoverAddress } from '../../protocol/signature.js'

const SEQUENCE = 0x30
const INTEGER = 0x02
/** An integer of 32 bytes, and the zero that keeps it positive. */
const MAX_INTEGER_BYTES = 33

/** Reads the two integers of a signature. @throws TypeError when it is not one in DER */
export function parseDerSignature(der: Uint8Array): { r: bigint; s: bigint } {
  const [tag, length] = der
  if (tag !== SEQUENCE || length !== der.length - 2) throw malformed()
  const r = readInteger(der, 2)
  const s = readInteger(der, r.end)
  if (s.end !== der.length) throw malformed()
  return { r: r.value, s: s.value }
}

function readInteger(der: Uint8Array, at: number): { value: bigint; end: number } {
  const length = der[at + 1] ?? 0
  const end = at + 2 + length
  const bytes = der.subarray(at + 2, end)
  const [first = 0x80, second = 0] = bytes
  const isNegative = first >= 0x80
  // A zero in front is there for a sign bit alone.
  const isPadded = length > 1 && first === 0 && second < 0x80
  if (der[at] !== INTEGER || bytes.length !== length || length > MAX_INTEGER_BYTES) throw malformed()
  if (isNegative || isPadded) throw malformed()
  return { value: bytesToUint(bytes), end }
}

function malformed(): TypeError {
  return new TypeError('expected an ECDSA signature in DER')
}

/**
 * The one form that everything else takes: `r ‖ s ‖ v`, s in the lower half (EIP-2), v 27 or 28. Of the two points
 * that have this r, v names the one that recovers to the signer.
 *
 * @throws TypeError when the signature is not this signer's over this digest
 */
export function toRecoverable(der: Uint8Array, digest: Hex, signer: Hex): Hex {
  const { r, s } = parseDerSignature(der)
  if (r >= CURVE_ORDER || s >= CURVE_ORDER) throw malformed()
  const low = s > CURVE_ORDER / 2n ? CURVE_ORDER - s : s
  for (const v of [27, 28]) {
    const signature = bytesToHex(concatBytes(uintToBytes(r, 32), uintToBytes(low, 32), Uint8Array.of(v)))
    if (recoversTo(signer, digest, signature)) return signature
  }
  throw new TypeError('the signature belongs to another key')
}

function recoversTo(signer: Hex, digest: Hex, signature: Hex): boolean {
  try {
    return sameAddress(recoverAddress(digest, signature), signer)
  } catch (error) {
    // One of the two may be no point at all.
    if (error instanceof ProtocolError) return false
    throw error
  }
}
