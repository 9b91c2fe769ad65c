import { randomBytes } from 'node:crypto'
import { Point } from '@noble/secp256k1'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesToHex, concatBytes, type Hex } from '../../../src/protocol/hex.js'
import { publicKeyOf, publicKeySchema } from '../../../src/protocol/publicKey.js'
import { receivedPointSchema } from '../../../src/server/intake/curvePoint.js'

const compressed = publicKeyOf(randomBytes(32))
const uncompressed = bytesToHex(Point.fromHex(compressed.slice(2)).toBytes(false))
/** Of an x on the curve for which y is odd or even, as the prefix must say. */
const prefixed = (prefix: string, key: Hex): Hex => `0x${prefix}${key.slice(4)}`

/** What the server's check says of it, and the protocol's. */
function agree(key: unknown): boolean {
  const expected = publicKeySchema.safeParse(key)
  expect(receivedPointSchema.safeParse(key)).toEqual(expected)
  return expected.success
}

test('takes both forms of a point, in either case, as the protocol does', () => {
  expect(agree(compressed)).toBe(true)
  expect(agree(uncompressed)).toBe(true)
  expect(agree(`0x${uncompressed.slice(2).toUpperCase()}`)).toBe(true)
})

test.each([
  ['a hybrid form', prefixed('06', uncompressed)],
  ['the other hybrid form', prefixed('07', uncompressed)],
  ['an uncompressed prefix on 33 bytes', prefixed('04', compressed)],
  ['a compressed prefix on 65 bytes', prefixed('02', uncompressed)],
  ['zeros', `0x${'00'.repeat(33)}`],
  ['an x beyond the field', `0x02${'ff'.repeat(32)}`],
  ['an x beside the curve', `0x02${'00'.repeat(31)}05`],
  ['a wrong y', `${uncompressed.slice(0, -2)}${uncompressed.endsWith('00') ? '01' : '00'}`],
  ['34 bytes', `${compressed}00`],
  ['32 bytes', compressed.slice(0, -2)],
  ['no hex', 'key'],
  ['no text', 5],
])('refuses %s, as the protocol does', (_name, key) => {
  expect(agree(key)).toBe(false)
})

test('agrees with the protocol on any bytes', () => {
  const prefix = fc.constantFrom(0x00, 0x02, 0x03, 0x04, 0x06, 0x07)
  const rest = fc
    .constantFrom(32, 64)
    .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
  fc.assert(
    fc.property(prefix, rest, (first, bytes) => {
      agree(bytesToHex(concatBytes(Uint8Array.of(first), bytes)))
    }),
    { numRuns: 300 },
  )
})
