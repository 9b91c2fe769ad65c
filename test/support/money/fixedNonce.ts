import { SigningKey } from 'ethers'
import {
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexToBytes,
  uintToBytes,
} from '../../../src/protocol/hex.js'
import { CURVE_ORDER } from '../../../src/protocol/signature.js'

/** The nonce k = 2, its inverse, and the point k·G as `02 ‖ x` or `03 ‖ x`, by the parity of y (SEC 1, 2.3.3). */
const K: Hex = `0x${'2'.padStart(64, '0')}`
const K_INVERSE = (CURVE_ORDER + 1n) / 2n
const R = hexToBytes(SigningKey.computePublicKey(K, true))

/**
 * Signs digests with the same nonce each time, which spares the one slow step of ECDSA: s = k⁻¹·(z + r·d) mod n
 * (SEC 1, 4.1.3). Two signatures give the key away, so it serves only tens of thousands of test signatures with a key
 * that everyone knows. The signatures are valid, in the form that the contracts take.
 */
export function createFixedNonceSigner(privateKey: Hex): (digest: Hex) => Hex {
  const d = BigInt(privateKey)
  const r = bytesToUint(R.subarray(1))
  const parity = R[0] === 3 ? 1 : 0
  return (digest) => {
    const s = (K_INVERSE * (BigInt(digest) + r * d)) % CURVE_ORDER
    const low = s <= CURVE_ORDER / 2n
    const v = 27 + (low ? parity : 1 - parity)
    return bytesToHex(
      concatBytes(uintToBytes(r, 32), uintToBytes(low ? s : CURVE_ORDER - s, 32), Uint8Array.of(v)),
    )
  }
}
