import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { getPublicKey, getSharedSecret, hashes, Point, recoverPublicKey, sign, utils } from '@noble/secp256k1'
import { concatBytes } from './hex.js'

// For RFC 6979.
hashes.sha256 = sha256
hashes.hmacSha256 = (key, message) => hmac(sha256, key, message)

/**
 * secp256k1 (SEC 2) on bytes whose form the caller has checked: a digest and a private key of 32 bytes, a signature `r ‖ s`
 * of 64, a point of 33 or 65 whose first byte says so.
 */
export interface Secp256k1 {
  /**
   * The key that signed, as an uncompressed point of 65 bytes (ECDSA as Ethereum uses it: SEC 1, 4.1).
   * @param parity of the y coordinate of the point that r stands for
   * @throws when the signature is nobody's
   */
  recover(digest: Uint8Array, rs: Uint8Array, parity: 0 | 1): Uint8Array
  /** A deterministic (RFC 6979), low-s signature: 65 bytes `r ‖ s ‖ v`, v 27 or 28. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array
  /** The same point in 33 bytes. @throws when it does not lie on the curve */
  compress(point: Uint8Array): Uint8Array
  /** One side of a key agreement; with a fresh key where none is given. */
  agreement(privateKey?: Uint8Array): KeyAgreement
}

/** One side of a key agreement (ECDH: SEC 1, 3.3.1). */
export interface KeyAgreement {
  /** 33 bytes. */
  readonly publicKey: Uint8Array
  /** The x coordinate of the shared point, 32 bytes. @param peer the other side's point */
  sharedX(peer: Uint8Array): Uint8Array
}

/** In JavaScript, by noble: what runs everywhere, and what every other one is tested against. */
export const referenceSecp256k1: Secp256k1 = {
  recover(digest, rs, parity) {
    const key = recoverPublicKey(concatBytes(Uint8Array.of(parity), rs), digest, { prehash: false })
    return Point.fromBytes(key).toBytes(false)
  },
  sign(digest, privateKey) {
    const signature = sign(digest, privateKey, { prehash: false, format: 'recovered' })
    return concatBytes(signature.subarray(1), Uint8Array.of(27 + (signature[0] ?? 0)))
  },
  compress: (point) => Point.fromBytes(point).toBytes(true),
  agreement(privateKey = utils.randomSecretKey()) {
    return {
      publicKey: getPublicKey(privateKey, true),
      // Its compressed form without the leading parity byte.
      sharedX: (peer) => getSharedSecret(privateKey, peer, true).subarray(1),
    }
  },
}

/** What this process computes with. */
export const secp256k1: Secp256k1 = { ...referenceSecp256k1 }

/** Makes this process compute with something faster than the reference. */
export function registerSecp256k1(faster: Partial<Secp256k1>): void {
  Object.assign(secp256k1, faster)
}
