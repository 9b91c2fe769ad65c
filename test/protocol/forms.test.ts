import { Point } from '@noble/secp256k1'
import { computeAddress, getAddress, isAddress, SigningKey } from 'ethers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addressSchema, checksum } from '../../src/protocol/address.js'
import { ProtocolError } from '../../src/protocol/errors.js'
import {
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexOf,
  hexToBytes,
  uintToBytes,
} from '../../src/protocol/hex.js'
import { bytes32ToName, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { isPoint, publicKeySchema, samePoint } from '../../src/protocol/point.js'
import { policySchema } from '../../src/protocol/policy.js'
import { compressPoint, publicKeyOf } from '../../src/protocol/publicKey.js'
import { CURVE_ORDER, recoverAddress } from '../../src/protocol/signature.js'
import { signDigest } from '../../src/protocol/signDigest.js'

const digest: Hex = `0x${'99'.repeat(32)}`
const signature = signDigest(digest, `0x${'77'.repeat(32)}`)

/** The same signature with s mirrored into the upper half and v flipped: valid ECDSA, refused by EIP-2. */
function mirrored(form: Hex): Hex {
  const bytes = hexToBytes(form)
  const s = CURVE_ORDER - bytesToUint(bytes.subarray(32, 64))
  return bytesToHex(
    concatBytes(bytes.subarray(0, 32), uintToBytes(s, 32), Uint8Array.of((bytes[64] ?? 0) ^ 7)),
  )
}

it('hex takes either case and gives lower case', () => {
  expect(hexOf(2).parse('0xAbCd')).toBe('0xabcd')
  for (const text of ['0x', '0xabcdef']) expect(hexOf(2).safeParse(text).success).toBe(false)
})

const NO_HEX = ['abcd', '0xabc', '0Xabcd', '0xabcg', ' 0xabcd', '0xabcd\n', '0xabc\u0130', 5, null]
it.each(NO_HEX)('hex refuses %j', (text) => {
  expect(hexOf(2).safeParse(text).success).toBe(false)
  expect(() => hexToBytes(String(text))).toThrow(ProtocolError)
})

const lower = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytesToHex)
/** Any mixture of cases, which hardly ever is the right one. */
const mixed = fc
  .tuple(lower, fc.infiniteStream(fc.boolean()))
  .map(([address, cases]) =>
    address.replace(/[a-f]/g, (digit) => (cases.next().value ? digit.toUpperCase() : digit)),
  )

it('an address is taken in one case, and in two with the right checksum only, which is that of ethers', () => {
  const upper = lower.map((address) => `0x${address.slice(2).toUpperCase()}`)
  fc.assert(
    fc.property(fc.oneof(lower, upper, mixed, lower.map(getAddress)), (address) => {
      const parsed = addressSchema.safeParse(address)
      expect(parsed.success).toBe(isAddress(address))
      if (parsed.success) expect(parsed.data).toBe(getAddress(address))
      // Twice, because the first is kept.
      const small = bytesToHex(hexToBytes(address))
      for (const again of [checksum(small), checksum(small)]) expect(again).toBe(getAddress(small))
    }),
  )
})

it.each(['', 'x'.repeat(32), 'é', 'a\nb', ' a', 'a '])('a name is not %j', (name) => {
  expect(() => nameToBytes32(name)).toThrow(expect.objectContaining({ code: 'invalid-name' }))
})

it('no name is found in bytes that are no name', () => {
  expect(bytes32ToName(`0x${'00'.repeat(32)}`)).toBeNull()
  expect(bytes32ToName(`0x41004200${'00'.repeat(28)}`)).toBeNull()
  expect(bytes32ToName(`0x${'ff'.repeat(32)}`)).toBeNull()
})

it.each([
  ['v 0', `${signature.slice(0, -2)}00`],
  ['v 1', `${signature.slice(0, -2)}01`],
  ['an EIP-155 v', `${signature.slice(0, -2)}25`],
  ['64 bytes (EIP-2098)', signature.slice(0, -2)],
  ['66 bytes', `${signature}00`],
  ['s in the upper half', mirrored(signature)],
  ['r of zero', `0x${'00'.repeat(32)}${signature.slice(66)}`],
  ['s of zero', `${signature.slice(0, 66)}${'00'.repeat(32)}1b`],
  ['r at the curve order', `0x${CURVE_ORDER.toString(16)}${signature.slice(66)}`],
])('signatures with %s are refused', (_, text) => {
  expect(() => recoverAddress(digest, `0x${text.slice(2)}`)).toThrow(
    expect.objectContaining({ name: 'ProtocolError' }),
  )
})

const word = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc
    .constantFrom(0n, 1n, CURVE_ORDER / 2n, CURVE_ORDER - 1n, CURVE_ORDER, CURVE_ORDER + 1n, 2n ** 256n - 1n)
    .map((value) => uintToBytes(value, 32)),
)

it('recovery finds the signer of any digest, one above the curve order included', () => {
  fc.assert(
    fc.property(word, fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }), (hash, scalar) => {
      const key = bytesToHex(uintToBytes(scalar, 32))
      const signed = signDigest(bytesToHex(hash), key)
      expect(recoverAddress(bytesToHex(hash), signed)).toBe(computeAddress(key))
    }),
    { numRuns: 40 },
  )
})

it('recovery of what is no signature is refused, never a failure of the library', () => {
  fc.assert(
    fc.property(word, word, word, fc.constantFrom(27, 28), (hash, r, s, v) => {
      try {
        recoverAddress(bytesToHex(hash), bytesToHex(concatBytes(r, s, Uint8Array.of(v))))
      } catch (error) {
        expect(error).toMatchObject({ name: 'ProtocolError', code: 'invalid-signature' })
      }
    }),
    { numRuns: 200 },
  )
})

it('recovery refuses the point at infinity, as s·R = z·G gives it', () => {
  // R = G has r = x(G), and with s = z the recovered key is r⁻¹(s·R − z·G) = 0.
  const r = hexToBytes(publicKeyOf(uintToBytes(1n, 32))).subarray(1)
  const z = uintToBytes(5n, 32)
  expect(() => recoverAddress(bytesToHex(z), bytesToHex(concatBytes(r, z, Uint8Array.of(27))))).toThrow(
    'recovers to no key',
  )
})

const compressed = publicKeyOf(new Uint8Array(32).fill(7))
const uncompressed: Hex = `0x${SigningKey.computePublicKey(compressed, false).slice(2)}`
/** The same bytes behind another prefix. */
const prefixed = (prefix: string, key: string): Hex => `0x${prefix}${key.slice(4)}`

it('a public key is taken in both forms and either case', () => {
  for (const key of [compressed, uncompressed, `0x${uncompressed.slice(2).toUpperCase()}`]) {
    expect(bytesToHex(compressPoint(publicKeySchema.parse(key)))).toBe(compressed)
  }
})

it.each([
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
])('a public key is refused as %s', (_, key) => {
  expect(publicKeySchema.safeParse(key).success).toBe(false)
})

it('a public key is a point exactly where the library of the curve takes it', () => {
  const prefix = fc.constantFrom(2, 3, 4)
  fc.assert(
    fc.property(prefix, word, word, (form, x, y) => {
      const key = concatBytes(Uint8Array.of(form), x, ...(form === 4 ? [y] : []))
      expect(isPoint(bytesToHex(key))).toBe(takes(key))
    }),
    { numRuns: 500 },
  )
})

function takes(key: Uint8Array): boolean {
  try {
    Point.fromBytes(key)
    return true
  } catch {
    return false
  }
}

it('a public key is the same in both forms and either case, and not with the other y', () => {
  const other = prefixed(compressed.startsWith('0x02') ? '03' : '02', compressed)
  expect(samePoint(compressed, uncompressed)).toBe(true)
  expect(samePoint(`0x${compressed.slice(2).toUpperCase()}`, compressed)).toBe(true)
  expect(samePoint(other, compressed)).toBe(false)
  expect(samePoint('0x', '0x')).toBe(false)
})

const account = `0x${'ab'.repeat(20)}`
const rules = { canBuy: true, canSell: true, restricted: ['AAPL'] }
const policy = { employees: { [account]: rules }, maxOrderNotional: '1', allowWithdrawShares: false }

it.each([
  ['a checksummed employee', { employees: { [getAddress(account)]: rules } }],
  ['a symbol twice', { employees: { [account]: { ...rules, restricted: ['AAPL', 'AAPL'] } } }],
  ['a number for money', { maxOrderNotional: 1 }],
  ['an unknown rule', { canFly: true }],
])('a policy with %s is refused', (_, change) => {
  expect(policySchema.safeParse(policy).success).toBe(true)
  expect(policySchema.safeParse({ ...policy, ...change }).success).toBe(false)
})
