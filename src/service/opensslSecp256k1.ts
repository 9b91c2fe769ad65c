import { createECDH, ECDH } from 'node:crypto'
import type { KeyAgreement, Secp256k1 } from '../protocol/secp256k1.js'

const CURVE = 'secp256k1'

/**
 * Points and key agreement by Node's OpenSSL, five times as fast as JavaScript's and made to take constant time. It signs no digest as it
 * is and recovers no signer: see decision 0022.
 */
export const opensslSecp256k1: Pick<Secp256k1, 'compress' | 'agreement'> = {
  compress: (point) => bytesOf(ECDH.convertKey(point, CURVE, undefined, undefined, 'compressed')),
  agreement: (privateKey) => (privateKey === undefined ? agreementOf() : remembered(privateKey)),
}

/** The last key that was given: OpenSSL takes as long to prepare a key as to use it, and a program opens with one. */
let last: { readonly privateKey: Buffer; readonly agreement: KeyAgreement } | undefined

function remembered(privateKey: Uint8Array): KeyAgreement {
  if (!last?.privateKey.equals(privateKey)) {
    last = { privateKey: Buffer.from(privateKey), agreement: agreementOf(privateKey) }
  }
  return last.agreement
}

function agreementOf(privateKey?: Uint8Array): KeyAgreement {
  const ecdh = createECDH(CURVE)
  if (privateKey === undefined) ecdh.generateKeys()
  else ecdh.setPrivateKey(privateKey)
  return {
    publicKey: bytesOf(ecdh.getPublicKey(null, 'compressed')),
    sharedX: (peer) => bytesOf(ecdh.computeSecret(peer)),
  }
}

/** Copied out of a Buffer, whose memory may be shared and whose methods differ. */
function bytesOf(buffer: Buffer | string): Uint8Array {
  if (typeof buffer === 'string') throw new TypeError('expected bytes')
  return new Uint8Array(buffer)
}
