import { randomBytes } from 'node:crypto'
import { Point } from '@noble/secp256k1'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { open, seal } from '../../src/protocol/envelope.js'
import { bytesToHex, concatBytes, type Hex, hexToBytes, uintToBytes } from '../../src/protocol/hex.js'
import { publicKeySchema } from '../../src/protocol/publicKey.js'
import { type KeyAgreement, referenceSecp256k1, registerSecp256k1 } from '../../src/protocol/secp256k1.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { libSecp256k1 } from '../../src/service/libSecp256k1.js'
import { opensslSecp256k1 } from '../../src/service/opensslSecp256k1.js'

const scalar = fc
  .oneof(
    fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }),
    fc.constantFrom(1n, 2n, CURVE_ORDER / 2n, CURVE_ORDER - 1n),
  )
  .map((value) => uintToBytes(value, 32))
const both = [referenceSecp256k1, opensslSecp256k1]
const points = [...both, libSecp256k1]

const compressed = bytesToHex(referenceSecp256k1.agreement(randomBytes(32)).publicKey)
const uncompressed = bytesToHex(pointOf(compressed))
/** The same bytes behind another prefix. */
const prefixed = (prefix: string, key: Hex): Hex => `0x${prefix}${key.slice(4)}`

/** Whether the schema takes a key, which must not depend on what computes. */
function agree(key: unknown): boolean {
  const [expected, ...others] = points.map((curve) => {
    registerSecp256k1(curve)
    return publicKeySchema.safeParse(key)
  })
  for (const found of others) expect(found).toEqual(expected)
  return expected?.success === true
}

describe('a public key', () => {
  test('is taken in both forms and either case', () => {
    expect(agree(compressed)).toBe(true)
    expect(agree(uncompressed)).toBe(true)
    expect(agree(`0x${uncompressed.slice(2).toUpperCase()}`)).toBe(true)
    for (const { compress } of points) {
      expect(bytesToHex(compress(hexToBytes(uncompressed)))).toBe(compressed)
      expect(bytesToHex(compress(hexToBytes(compressed)))).toBe(compressed)
    }
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
  ])('is refused as %s', (_name, key) => {
    expect(agree(key)).toBe(false)
  })

  test('of any bytes is taken or refused alike', () => {
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
})

describe('a key agreement', () => {
  test('comes to the same as by the reference, from either side, with either form', () => {
    fc.assert(
      fc.property(scalar, scalar, (own, other) => {
        const peer = referenceSecp256k1.agreement(other).publicKey
        const [expected, found] = both.map((curve) => told(curve.agreement(own), peer))
        expect(found).toEqual(expected)
        const back = opensslSecp256k1.agreement(other).sharedX(opensslSecp256k1.agreement(own).publicKey)
        expect(bytesToHex(back)).toBe(found?.shared)
        expect(told(opensslSecp256k1.agreement(own), pointOf(bytesToHex(peer)))).toEqual(found)
      }),
      { numRuns: 60 },
    )
  })

  test('keeps the zeros in front of a shared x', () => {
    const own = uintToBytes(7n, 32)
    const peers = Array.from({ length: 2_000 }, (_, n) =>
      referenceSecp256k1.agreement(uintToBytes(BigInt(n) + 1n, 32)),
    )
    const agreement = opensslSecp256k1.agreement(own)
    const peer = peers.find(({ publicKey }) => agreement.sharedX(publicKey)[0] === 0)
    expect(peer).toBeDefined()
    if (peer === undefined) return
    expect(told(agreement, peer.publicKey)).toEqual(told(referenceSecp256k1.agreement(own), peer.publicKey))
  })

  test('draws a fresh key where none is given', () => {
    const [one, two] = [opensslSecp256k1.agreement(), opensslSecp256k1.agreement()]
    expect(one.publicKey).not.toEqual(two.publicKey)
    expect(one.sharedX(two.publicKey)).toEqual(two.sharedX(one.publicKey))
  })

  test('never goes on with the key of the one before', () => {
    const [first, second] = [uintToBytes(7n, 32), uintToBytes(8n, 32)]
    opensslSecp256k1.agreement(first)
    expect(opensslSecp256k1.agreement(second).publicKey).toEqual(
      referenceSecp256k1.agreement(second).publicKey,
    )
    first.set(second)
    expect(opensslSecp256k1.agreement(first).publicKey).toEqual(
      referenceSecp256k1.agreement(second).publicKey,
    )
  })

  test.each([
    ['zero', 0n],
    ['the order', CURVE_ORDER],
    ['beyond the order', 2n ** 256n - 1n],
  ])('refuses the private key %s, as the reference does', (_name, value) => {
    for (const curve of both) expect(() => curve.agreement(uintToBytes(value, 32))).toThrow()
  })
})

test('an envelope sealed by one is opened by the other', async () => {
  const key = uintToBytes(9n, 32)
  const recipient = bytesToHex(referenceSecp256k1.agreement(key).publicKey)
  const place = { kind: 'order', context: new Uint8Array() } as const
  for (const [sealer, opener] of [both, both.toReversed()]) {
    registerSecp256k1(sealer ?? {})
    const envelope = await seal({ a: 'b' }, recipient, place)
    registerSecp256k1(opener ?? {})
    expect(await open(envelope, key, place)).toEqual({ a: 'b' })
  }
})

function told(agreement: KeyAgreement, peer: Uint8Array) {
  return { publicKey: bytesToHex(agreement.publicKey), shared: bytesToHex(agreement.sharedX(peer)) }
}

/** The uncompressed form. */
function pointOf(key: Hex): Uint8Array {
  return Point.fromHex(key.slice(2)).toBytes(false)
}
