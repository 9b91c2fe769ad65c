import { ECDH } from 'node:crypto'
import { type Hex, hexBetween } from '../../protocol/hex.js'

/** First byte of the SEC 1 forms, by their length: compressed and uncompressed. OpenSSL takes hybrids too. */
const FORMS = new Map([
  [33, /^0x0[23]/],
  [65, /^0x04/],
])

/**
 * The same as the protocol's schema of a secp256k1 public key, but by OpenSSL: five times as fast, and every request
 * costs a check.
 */
export const receivedPointSchema = hexBetween(33, 65).refine(isPoint, 'not a point on secp256k1')

function isPoint(key: Hex): boolean {
  if (!FORMS.get((key.length - 2) / 2)?.test(key)) return false
  try {
    ECDH.convertKey(key.slice(2), 'secp256k1', 'hex', 'hex', 'compressed')
    return true
  } catch {
    return false
  }
}
