import { isPoint } from 'tiny-secp256k1'
import { type Hex, hexBetween, hexToBytes } from '../../protocol/hex.js'

/** First byte of the SEC 1 forms, by their length: compressed and uncompressed. libsecp256k1 takes hybrids too. */
const FORMS = new Map([
  [33, /^0x0[23]/],
  [65, /^0x04/],
])

const isWhole = (key: Hex) => FORMS.get((key.length - 2) / 2)?.test(key) === true

/** The same as the protocol's schema of a secp256k1 public key, by a faster check: every request costs one. */
export const receivedPointSchema = hexBetween(33, 65).refine(
  (key) => isWhole(key) && isPoint(hexToBytes(key)),
  'not a point on secp256k1',
)
