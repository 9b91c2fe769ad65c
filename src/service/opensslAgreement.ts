import { createECDH } from 'node:crypto'
import type { KeyAgreement } from '../protocol/keyAgreement.js'

/**
 * A key agreement by Node's OpenSSL, which lasts as long for every key: anyone may send the enclave a point to multiply. See
 * decision 0022.
 */
export function opensslAgreement(privateKey?: Uint8Array): KeyAgreement {
  const ecdh = createECDH('secp256k1')
  if (privateKey === undefined) ecdh.generateKeys()
  else ecdh.setPrivateKey(privateKey)
  return {
    // Copied out of Buffers, whose memory may be shared and whose methods differ.
    publicKey: Uint8Array.from(ecdh.getPublicKey(null, 'compressed')),
    sharedX: (peer) => Uint8Array.from(ecdh.computeSecret(peer)),
  }
}
