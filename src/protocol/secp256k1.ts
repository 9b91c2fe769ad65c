import { Point, recoverPublicKey } from '@noble/secp256k1'
import { SigningKey } from 'ethers'
import { bytesToHex, concatBytes, hexToBytes } from './hex.js'

/**
 * ECDSA over secp256k1 as Ethereum uses it (SEC 1, 4.1), on bytes whose form the caller has checked: a digest and a
 * private key of 32 bytes, a signature `r ‖ s` of 64. A program may hand in a faster one than the reference.
 */
export interface Secp256k1 {
  /**
   * The key that signed, as an uncompressed point of 65 bytes.
   * @param parity of the y coordinate of the point that r stands for
   * @throws when the signature is nobody's
   */
  recover(digest: Uint8Array, rs: Uint8Array, parity: 0 | 1): Uint8Array
  /** A deterministic (RFC 6979), low-s signature: 65 bytes `r ‖ s ‖ v`, v 27 or 28. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array
}

/** In JavaScript, by noble and ethers: what runs everywhere, and what every other one is tested against. */
export const referenceSecp256k1: Secp256k1 = {
  recover(digest, rs, parity) {
    const key = recoverPublicKey(concatBytes(Uint8Array.of(parity), rs), digest, { prehash: false })
    return Point.fromBytes(key).toBytes(false)
  },
  sign: (digest, privateKey) =>
    hexToBytes(new SigningKey(bytesToHex(privateKey)).sign(bytesToHex(digest)).serialized),
}
