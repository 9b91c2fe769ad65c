import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProtocolError } from '../../src/protocol/errors.js'
import {
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexToBytes,
  uintToBytes,
} from '../../src/protocol/hex.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { referenceSecp256k1, registerSecp256k1, type Secp256k1 } from '../../src/protocol/secp256k1.js'
import { CURVE_ORDER, recoverAddress, signDigest } from '../../src/protocol/signature.js'
import { libSecp256k1 } from '../../src/service/libSecp256k1.js'

type Curve = Pick<Secp256k1, 'recover' | 'sign'>

const word = fc.uint8Array({ minLength: 32, maxLength: 32 })
const scalar = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }).map((value) => uintToBytes(value, 32))
/** The prime of the field (SEC 2, 2.4.1). */
const FIELD_PRIME = 2n ** 256n - 2n ** 32n - 977n
const EDGES = [
  0n,
  1n,
  2n,
  CURVE_ORDER / 2n,
  CURVE_ORDER / 2n + 1n,
  CURVE_ORDER - 1n,
  CURVE_ORDER,
  CURVE_ORDER + 1n,
  FIELD_PRIME - CURVE_ORDER,
  FIELD_PRIME,
  2n ** 256n - 1n,
]
const edge = fc.constantFrom(...EDGES).map((value) => uintToBytes(value, 32))

/** An address, or the code of the refusal. */
function outcome(digest: Uint8Array, signature: Hex, curve: Curve): string {
  registerSecp256k1(curve)
  try {
    return recoverAddress(bytesToHex(digest), signature)
  } catch (error) {
    if (error instanceof ProtocolError) return `${error.code}: ${error.message}`
    throw error
  }
}

function expectSame(digest: Uint8Array, signature: Hex): string {
  const expected = outcome(digest, signature, referenceSecp256k1)
  expect(outcome(digest, signature, libSecp256k1)).toBe(expected)
  return expected
}

describe('libsecp256k1', () => {
  test('signs as the reference does, byte for byte', () => {
    const digestBelow = fc.oneof(word, edge).filter((digest) => bytesToUint(digest) < CURVE_ORDER)
    fc.assert(
      fc.property(digestBelow, fc.oneof(scalar, edge), (digest, key) => {
        if (bytesToUint(key) === 0n || bytesToUint(key) >= CURVE_ORDER) {
          expect(() => referenceSecp256k1.sign(digest, key)).toThrow()
          expect(() => libSecp256k1.sign(digest, key)).toThrow()
        } else expect([...libSecp256k1.sign(digest, key)]).toEqual([...referenceSecp256k1.sign(digest, key)])
      }),
      { numRuns: 300 },
    )
  })

  // RFC 6979 draws the nonce from the digest modulo n, libsecp256k1 from its bytes: one digest of 2^128 is that high.
  test('signs a digest above the curve order validly too', () => {
    const digest = uintToBytes(CURVE_ORDER + 1n, 32)
    const key = uintToBytes(7n, 32)
    const [ours, theirs] = [libSecp256k1, referenceSecp256k1].map((curve) =>
      bytesToHex(curve.sign(digest, key)),
    )
    expect(expectSame(digest, ours ?? '0x')).toBe(expectSame(digest, theirs ?? '0x'))
  })

  test('recovers whom the reference recovers, of every good signature', () => {
    fc.assert(
      fc.property(fc.oneof(word, edge), scalar, (digest, key) => {
        const signature = bytesToHex(libSecp256k1.sign(digest, key))
        expect(expectSame(digest, signature)).toMatch(/^0x/)
      }),
      { numRuns: 200 },
    )
  })

  test('takes and refuses the same of what is no good signature', () => {
    const part = fc.oneof(word, scalar, edge)
    const lastByte = fc.oneof(fc.constantFrom(27, 28), fc.integer({ min: 0, max: 255 }))
    fc.assert(
      fc.property(fc.oneof(word, edge), part, part, lastByte, (digest, r, s, v) => {
        expectSame(digest, bytesToHex(concatBytes(r, s, Uint8Array.of(v))))
      }),
      { numRuns: 600 },
    )
  })

  test('throws exactly where the reference does, beneath the check of the form too', () => {
    const attempt = (curve: Curve, digest: Uint8Array, rs: Uint8Array, parity: 0 | 1) => {
      try {
        return bytesToHex(curve.recover(digest, rs, parity))
      } catch {
        return 'refused'
      }
    }
    const part = fc.oneof(scalar, edge)
    fc.assert(
      fc.property(word, part, part, fc.constantFrom(0 as const, 1 as const), (digest, r, s, parity) => {
        const rs = concatBytes(r, s)
        expect(attempt(libSecp256k1, digest, rs, parity)).toBe(
          attempt(referenceSecp256k1, digest, rs, parity),
        )
      }),
      { numRuns: 400 },
    )
  })

  test('refuses the point at infinity, as s·R = z·G gives it', () => {
    // R = G has r = x(G), and with s = z the recovered key is r⁻¹(s·R − z·G) = 0.
    const r = hexToBytes(publicKeyOf(uintToBytes(1n, 32))).subarray(1)
    const z = uintToBytes(5n, 32)
    expect(expectSame(z, bytesToHex(concatBytes(r, z, Uint8Array.of(27))))).toContain('recovers to no key')
  })

  test('takes views into a larger buffer', () => {
    const key = uintToBytes(7n, 32)
    const digest = Uint8Array.from({ length: 96 }, (_, index) => index).subarray(32, 64)
    const expected = referenceSecp256k1.sign(digest, key)
    expect([...libSecp256k1.sign(digest, concatBytes(key, key).subarray(32))]).toEqual([...expected])
    const inside = concatBytes(new Uint8Array(3), expected).subarray(3, 67)
    const parity = expected[64] === 27 ? 0 : 1
    expect([...libSecp256k1.recover(digest, inside, parity)]).toEqual([
      ...referenceSecp256k1.recover(digest, inside, parity),
    ])
  })
})

const signature = signDigest(`0x${'09'.repeat(32)}`, `0x${'07'.repeat(32)}`)

/** The form of a good signature changed, and what both say of it. */
test.each([
  ['s in the upper half', mirrored(), 'lower half'],
  ['r of zero', `0x${'00'.repeat(32)}${signature.slice(66)}` as const, '"r" is out of range'],
  ['s of zero', `${signature.slice(0, 66)}${'00'.repeat(32)}1b` as Hex, 'lower half'],
  ['v 0', `${signature.slice(0, -2)}00` as Hex, '"v" must be 27 or 28'],
  ['v 29', `${signature.slice(0, -2)}1d` as Hex, '"v" must be 27 or 28'],
  ['64 bytes', signature.slice(0, -2) as Hex, 'expected 65 bytes, got 64'],
] as const)('%s is refused, whatever computes', (_, form, message) => {
  expect(expectSame(new Uint8Array(32).fill(9), form)).toContain(message)
})

/** n − s with the other v, which recovers to the same key and is refused by EIP-2. */
function mirrored(): Hex {
  const bytes = hexToBytes(signature)
  const s = CURVE_ORDER - bytesToUint(bytes.subarray(32, 64))
  return bytesToHex(
    concatBytes(bytes.subarray(0, 32), uintToBytes(s, 32), Uint8Array.of((bytes[64] ?? 0) ^ 7)),
  )
}
