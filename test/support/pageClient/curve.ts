// secp256k1 out of node:crypto alone: keys, ECDH, and signatures of 65 bytes by RFC 6979.
import { createECDH, createHmac, ECDH, randomBytes } from 'node:crypto'
import { integerBytes, toInteger } from './bytes.js'

const CURVE = 'secp256k1'

/** The curve's order. */
export const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const isScalar = (value: bigint): boolean => value > 0n && value < N

const modN = (value: bigint): bigint => ((value % N) + N) % N

function pairOf(privateKey: Uint8Array) {
  const pair = createECDH(CURVE)
  pair.setPrivateKey(privateKey)
  return pair
}

export function randomPrivateKey(): Buffer {
  for (;;) {
    const key = randomBytes(32)
    if (isScalar(toInteger(key))) return key
  }
}

/** 33 bytes. */
export const publicKeyOf = (privateKey: Uint8Array): Buffer =>
  pairOf(privateKey).getPublicKey(null, 'compressed')

/**
 * The 33 bytes of a point that is given by 33 or 65.
 * @throws Error for a point off the curve
 */
export function compressed(point: Uint8Array): Buffer {
  const bytes = ECDH.convertKey(point, CURVE, undefined, undefined, 'compressed')
  if (typeof bytes === 'string') throw new Error('expected bytes')
  return bytes
}

/** The bare x-coordinate, 32 bytes. */
export const sharedX = (privateKey: Uint8Array, point: Uint8Array): Buffer =>
  integerBytes(toInteger(pairOf(privateKey).computeSecret(point)), 32)

/** `r ‖ s ‖ v` over a digest of 32 bytes, low-s, `v` 27 or 28. */
export function signDigest(privateKey: Uint8Array, digest: Uint8Array): Buffer {
  const [d, z] = [toInteger(privateKey), toInteger(digest)]
  for (const k of nonces(privateKey, digest)) {
    const point = pairOf(integerBytes(k, 32)).getPublicKey()
    const [x, y] = [toInteger(point.subarray(1, 33)), toInteger(point.subarray(33))]
    const [r, s] = [x, modN(inverse(k) * (z + x * d))]
    // An x beyond the order would need a `v` beyond 28.
    if (x >= N || s === 0n) continue
    const high = s > N / 2n
    const odd = (y & 1n) === 1n
    const v = odd === high ? 27 : 28
    return Buffer.concat([integerBytes(r, 32), integerBytes(high ? N - s : s, 32), Buffer.of(v)])
  }
  throw new Error('no nonce is left')
}

/** RFC 6979, section 3.2, with HMAC-SHA256. */
function* nonces(privateKey: Uint8Array, digest: Uint8Array): Generator<bigint> {
  const hmac = (key: Uint8Array, ...parts: Uint8Array[]) =>
    createHmac('sha256', key).update(Buffer.concat(parts)).digest()
  const seed = Buffer.concat([privateKey, integerBytes(modN(toInteger(digest)), 32)])
  let value: Buffer = Buffer.alloc(32, 1)
  let key: Buffer = Buffer.alloc(32)
  for (const step of [0, 1]) {
    key = hmac(key, value, Buffer.of(step), seed)
    value = hmac(key, value)
  }
  for (;;) {
    value = hmac(key, value)
    if (isScalar(toInteger(value))) yield toInteger(value)
    key = hmac(key, value, Buffer.of(0))
    value = hmac(key, value)
  }
}

/** By Fermat: k^(N − 2) mod N. */
function inverse(k: bigint): bigint {
  let [result, base, exponent] = [1n, k, N - 2n]
  for (; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * base) % N
    base = (base * base) % N
  }
  return result
}
