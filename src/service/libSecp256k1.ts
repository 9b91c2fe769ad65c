import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js'
import { signRecoverable } from 'tiny-secp256k1'
import type { Secp256k1 } from '../protocol/secp256k1.js'

/** The first recovery id of a v. */
const V_OFFSET = 27

const fast = await instantiateSecp256k1()

/**
 * libsecp256k1 as WebAssembly, in two builds. libauth's finds a point and recovers a signer several times as fast; both are public,
 * and enclave and contracts check them again. A private key goes only into the build that is kept up to date.
 *
 * It throws where the reference throws.
 */
export const libSecp256k1: Pick<Secp256k1, 'compress' | 'recover' | 'sign'> = {
  compress: (point) => bytesOf(fast.compressPublicKey(point)),
  recover: (digest, rs, parity) => bytesOf(fast.recoverPublicKeyUncompressed(rs, parity, digest)),
  sign(digest, privateKey) {
    const { signature, recoveryId } = signRecoverable(digest, privateKey)
    const form = new Uint8Array(65)
    form.set(signature)
    form[64] = V_OFFSET + recoveryId
    return form
  },
}

/** libauth returns the text of a failure. */
function bytesOf(result: Uint8Array | string): Uint8Array {
  if (typeof result === 'string') throw new RangeError(result)
  return result
}
