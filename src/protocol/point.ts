// Public keys on secp256k1, as they travel. The library of the curve is in `publicKey.ts`: a page that only reads answers does not load it.
import * as z from 'zod/mini'
import { type Hex, hexBetween } from './hex.js'

const COMPRESSED_BYTES = 33
const UNCOMPRESSED_BYTES = 65
/** The two forms (SEC 1, 2.3.3): the parity of y, and x; or both coordinates. */
const FORMS = [/^0x0([23])([0-9a-f]{64})$/i, /^0x04([0-9a-f]{64})([0-9a-f]{64})$/i] as const
/** The number of the field's elements, a prime (SEC 2, 2.4.1). */
const FIELD = 2n ** 256n - 2n ** 32n - 977n

/** A point's x, and whether its y is odd; null for what is not on the curve. */
function pointOf(key: Hex): { readonly x: bigint; readonly isOdd: boolean } | null {
  const [, parity, compressed] = FORMS[0].exec(key) ?? []
  const [, first, second] = FORMS[1].exec(key) ?? []
  const x = BigInt(`0x${compressed ?? first ?? 'f'.repeat(64)}`)
  if (x >= FIELD) return null
  const square = (x ** 3n + 7n) % FIELD
  if (second === undefined) return isSquare(square) ? { x, isOdd: parity === '3' } : null
  const y = BigInt(`0x${second}`)
  return y < FIELD && (y * y) % FIELD === square ? { x, isOdd: y % 2n === 1n } : null
}

/** Whether an element has a root, by Euler's criterion. No point of the curve has a y of 0. */
function isSquare(element: bigint): boolean {
  let [power, base] = [1n, element]
  for (let exponent = (FIELD - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) power = (power * base) % FIELD
    base = (base * base) % FIELD
  }
  return power === 1n
}

/** Whether two public keys are one, each in either form. False where one is not on the curve. */
export function samePoint(a: Hex, b: Hex): boolean {
  const [one, other] = [pointOf(a), pointOf(b)]
  return one !== null && one.x === other?.x && one.isOdd === other.isOdd
}

export function isPoint(key: Hex): boolean {
  return pointOf(key) !== null
}

/** A secp256k1 public key, 33 bytes compressed or 65 uncompressed, checked to lie on the curve. */
export const publicKeySchema = hexBetween(COMPRESSED_BYTES, UNCOMPRESSED_BYTES).check(
  z.refine(isPoint, 'not a point on secp256k1'),
)
