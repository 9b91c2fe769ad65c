import { pointCompress, recover, signRecoverable } from 'tiny-secp256k1'
import type { Secp256k1 } from '../protocol/secp256k1.js'

/** The first recovery id of a v. */
const V_OFFSET = 27

/**
 * libsecp256k1 as WebAssembly: recovers several times as fast as JavaScript, and finds a point two thirds faster than OpenSSL.
 * It throws where the reference throws.
 */
export const libSecp256k1: Pick<Secp256k1, 'compress' | 'recover' | 'sign'> = {
  compress: (point) => pointCompress(point, true),
  recover(digest, rs, parity) {
    const key = recover(digest, rs, parity)
    if (key === null) throw new RangeError('no key made this signature')
    return key
  },
  sign(digest, privateKey) {
    const { signature, recoveryId } = signRecoverable(digest, privateKey)
    const form = new Uint8Array(65)
    form.set(signature)
    form[64] = V_OFFSET + recoveryId
    return form
  },
}
