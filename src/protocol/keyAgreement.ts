import { getPublicKey, getSharedSecret, utils } from '@noble/secp256k1'

/** One side of a key agreement (ECDH: SEC 1, 3.3.1). */
export interface KeyAgreement {
  /** 33 bytes. */
  readonly publicKey: Uint8Array
  /** The x coordinate of the shared point, 32 bytes. @param peer the other side's point, 33 or 65 bytes */
  sharedX(peer: Uint8Array): Uint8Array
}

/** Draws a fresh key if none is given. @throws if the private key is 0 or not below the curve's order */
type Agree = (privateKey?: Uint8Array) => KeyAgreement

/** By noble: runs everywhere. */
export const nobleAgreement: Agree = (privateKey = utils.randomSecretKey()) => ({
  publicKey: getPublicKey(privateKey, true),
  // The x coordinate is the compressed form without the leading parity byte.
  sharedX: (peer) => getSharedSecret(privateKey, peer, true).subarray(1),
})

let inUse = nobleAgreement

/** A key agreement by the implementation that this process uses. */
export const agreement: Agree = (privateKey) => inUse(privateKey)

/** Replaces this process's implementation by another. */
export function registerAgreement(other: Agree): void {
  inUse = other
}
