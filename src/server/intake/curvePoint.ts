import { ECDH } from 'node:crypto'
import { type Hex, hexBetween } from '../../protocol/hex.js'

/** Whether 33 or 65 bytes are a point on secp256k1; their form has been looked at. */
export type IsPoint = (key: Hex) => boolean

type Binding = Pick<typeof import('secp256k1/bindings.js')['default'], 'publicKeyVerify'>

/** First byte of the SEC 1 forms, by their length: compressed and uncompressed. Both libraries take hybrids too. */
const FORMS = new Map([
  [33, /^0x0[23]/],
  [65, /^0x04/],
])
/** An x of the curve, and one beside it. */
const ON: Hex = `0x02${'00'.repeat(31)}01`
const BESIDE: Hex = `0x02${'00'.repeat(31)}05`

/** The same as the protocol's schema of a secp256k1 public key, by a faster check: every request costs one. */
export function receivedPointSchema(isPoint: IsPoint) {
  const isWhole = (key: Hex) => FORMS.get((key.length - 2) / 2)?.test(key) === true
  return hexBetween(33, 65).refine((key) => isWhole(key) && isPoint(key), 'not a point on secp256k1')
}

/** By OpenSSL, which is always there. */
export const isPointByOpenSsl: IsPoint = (key) => {
  try {
    ECDH.convertKey(key.slice(2), 'secp256k1', 'hex', 'hex', 'compressed')
    return true
  } catch {
    return false
  }
}

/**
 * By libsecp256k1, five times as fast, where it is installed and works; else by OpenSSL.
 *
 * @param load the binding; handed in by tests
 */
export async function loadPointCheck(
  load: () => Promise<{ default: Binding }> = () => import('secp256k1/bindings.js'),
): Promise<IsPoint> {
  try {
    const { default: binding } = await load()
    const isPoint: IsPoint = (key) => binding.publicKeyVerify(Buffer.from(key.slice(2), 'hex'))
    return isPoint(ON) && !isPoint(BESIDE) ? isPoint : isPointByOpenSsl
  } catch {
    // That it is missing is told where signatures are checked.
    return isPointByOpenSsl
  }
}
