import { referenceSecp256k1, type Secp256k1 } from '../protocol/secp256k1.js'
import { describeError, type Logger } from '../service/logger.js'

type Binding = Pick<typeof import('secp256k1/bindings.js')['default'], 'ecdsaRecover' | 'ecdsaSign'>

/** The first recovery id of a v. */
const V_OFFSET = 27
const KEY = new Uint8Array(32).fill(7)
const DIGEST = new Uint8Array(32).fill(9)

/**
 * libsecp256k1, which recovers 40 times as fast as JavaScript; that, with a warning, where the package's native part
 * is missing or does not do what it should. Not the package's own entry: that falls back to `elliptic` in silence.
 *
 * @param load the binding; handed in by tests
 */
export async function loadSecp256k1(
  logger: Logger,
  load: () => Promise<{ default: Binding }> = () => import('secp256k1/bindings.js'),
): Promise<Secp256k1> {
  try {
    const { default: binding } = await load()
    const native = createNativeSecp256k1(binding)
    assertEqual(native, referenceSecp256k1)
    return native
  } catch (error) {
    logger.warn(
      'libsecp256k1 is missing: JavaScript checks and makes signatures, slowly',
      describeError(error),
    )
    return referenceSecp256k1
  }
}

/** @throws where the reference throws */
function createNativeSecp256k1(binding: Binding): Secp256k1 {
  return {
    recover: (digest, rs, parity) => binding.ecdsaRecover(rs, parity, digest, false),
    sign(digest, privateKey) {
      const { signature, recid } = binding.ecdsaSign(digest, privateKey)
      const form = new Uint8Array(65)
      form.set(signature)
      form[64] = V_OFFSET + recid
      return form
    },
  }
}

/** A build for another machine may load and compute nonsense. */
function assertEqual(one: Secp256k1, other: Secp256k1): void {
  const [signature, expected] = [one.sign(DIGEST, KEY), other.sign(DIGEST, KEY)]
  const rs = expected.subarray(0, 64)
  const parity = expected[64] === V_OFFSET ? 0 : 1
  const [key, expectedKey] = [one.recover(DIGEST, rs, parity), other.recover(DIGEST, rs, parity)]
  if (!sameBytes(signature, expected) || !sameBytes(key, expectedKey)) {
    throw new TypeError('libsecp256k1 does not compute what it should')
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
