import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { getPublicKey, getSharedSecret, hashes, Point, recoverPublicKey, sign, utils } from '@noble/secp256k1'
import { concatBytes } from './hex.js'

// noble needs a hash for RFC 6979 nonces.
hashes.sha256 = sha256
hashes.hmacSha256 = (key, message) => hmac(sha256, key, message)

/**
 * secp256k1 (SEC 2). The caller has checked the inputs' form:
 * - digest and private key: 32 bytes
 * - signature `r ‖ s`: 64 bytes
 * - point: 33 or 65 bytes with the matching first byte
 */
export interface Secp256k1 {
  /**
   * The signer's public key as an uncompressed point, 65 bytes (ECDSA as Ethereum uses it: SEC 1, 4.1).
   * @param parity of the y coordinate of the point that r stands for
   * @throws if the signature recovers to no key
   */
  recover(digest: Uint8Array, rs: Uint8Array, parity: 0 | 1): Uint8Array
  /** A deterministic (RFC 6979), low-s signature: 65 bytes `r ‖ s ‖ v`, v 27 or 28. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array
  /** The point's compressed form, 33 bytes. @throws if it does not lie on the curve */
  compress(point: Uint8Array): Uint8Array
  /** One side of a key agreement; draws a fresh key if none is given. */
  agreement(privateKey?: Uint8Array): KeyAgreement
}

/** One side of a key agreement (ECDH: SEC 1, 3.3.1). */
export interface KeyAgreement {
  /** 33 bytes. */
  readonly publicKey: Uint8Array
  /** The x coordinate of the shared point, 32 bytes. @param peer the other side's point */
  sharedX(peer: Uint8Array): Uint8Array
}

/** Pure JavaScript, by noble: runs everywhere, and is the reference in tests of other implementations. */
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
      // The x coordinate is the compressed form without the leading parity byte.
      sharedX: (peer) => getSharedSecret(privateKey, peer, true).subarray(1),
    }
  },
}

/** The implementation that this process uses. */
export const secp256k1: Secp256k1 = { ...referenceSecp256k1 }

/** Replaces functions of this process's implementation with faster ones. */
export function registerSecp256k1(faster: Partial<Secp256k1>): void {
  Object.assign(secp256k1, faster)
}
