import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ProtocolError } from '../../src/protocol/errors.js'
import { bytesToHex, concatBytes, type Hex, uintToBytes } from '../../src/protocol/hex.js'
import { assertSignedBy, createSignerCheck } from '../../src/protocol/signature.js'
import { signDigest } from '../../src/protocol/signDigest.js'
import { ENCLAVE_KEY, ENCLAVE_SIGNER } from '../support/roles.js'

const OTHER_KEY: Hex = `0x${'e2'.repeat(32)}`
const FIRST: Hex = `0x${'01'.repeat(32)}`

const random = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): Hex => bytesToHex(bytes))
const digests = fc.oneof(random, fc.constantFrom<Hex>(`0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`))
const signature = fc
  .tuple(fc.bigInt(1n, 2n ** 256n - 1n), fc.bigInt(1n, 2n ** 255n), fc.constantFrom(27, 28))
  .map(([r, s, v]) => bytesToHex(concatBytes(uintToBytes(r, 32), uintToBytes(s, 32), Uint8Array.of(v))))

function passes(act: () => void): boolean {
  try {
    act()
    return true
  } catch (error) {
    if (error instanceof ProtocolError) return false
    throw error
  }
}

it('accepts exactly the signatures that recover to the signer, once it knows the key', () => {
  const check = createSignerCheck(ENCLAVE_SIGNER)
  check(FIRST, signDigest(FIRST, ENCLAVE_KEY))
  const property = fc.property(digests, random, signature, (digest, other, invented) => {
    const good = signDigest(digest, ENCLAVE_KEY)
    const otherParity: Hex = `0x${good.slice(2, -2)}${good.endsWith('1b') ? '1c' : '1b'}`
    const foreign = [signDigest(other, ENCLAVE_KEY), signDigest(digest, OTHER_KEY)]
    expect(passes(() => check(digest, good))).toBe(true)
    for (const each of [otherParity, ...foreign, invented]) {
      const recovers = passes(() => assertSignedBy(ENCLAVE_SIGNER, digest, each))
      expect(passes(() => check(digest, each))).toBe(recovers)
    }
  })
  fc.assert(property, { numRuns: 30 })
})

it("learns no key from another party's signature", () => {
  const check = createSignerCheck(ENCLAVE_SIGNER)
  const foreign = signDigest(FIRST, OTHER_KEY)
  expect(passes(() => check(FIRST, foreign))).toBe(false)
  expect(passes(() => check(FIRST, foreign))).toBe(false)
  expect(passes(() => check(FIRST, signDigest(FIRST, ENCLAVE_KEY)))).toBe(true)
})
