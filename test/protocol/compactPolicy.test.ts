import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { decodePolicy, encodePolicy } from '../../src/protocol/compactPolicy.js'
import { type Bytes, bytesToHex, type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { type Policy, policyHash, policySchema } from '../../src/protocol/policy.js'
import { decodeRulebook, encodeRulebook, rulebookSchema } from '../../src/protocol/policyIntent.js'
import { hexesIn } from '../support/vectors.js'
import compactPolicies from '../vectors/compactPolicies.json' with { type: 'json' }

const vectors = hexesIn(compactPolicies)

function padded(content: Hex, length: number): Bytes {
  const bytes = new Uint8Array(length)
  bytes.set(hexToBytes(content))
  return bytes
}

it.each(vectors.cases)('the encoding of $name is frozen, and its hash is that of the JSON', (vector) => {
  const { content, bytes } = vector
  const policy = policySchema.parse(vector.policy)
  expect(bytesToHex(encodePolicy(policy))).toBe(bytesToHex(padded(content, bytes)))
  expect(decodePolicy(padded(content, bytes))).toEqual(policy)
  expect(policyHash(policy)).toBe(vector.policyHash)
})

it('the encoding of a signed rulebook is frozen, and its JSON is read as well', () => {
  const { plaintext, content, bytes } = vectors.rulebook
  const rulebook = rulebookSchema.parse(plaintext)
  expect(bytesToHex(encodeRulebook(rulebook))).toBe(bytesToHex(padded(content, bytes)))
  expect(decodeRulebook(padded(content, bytes))).toEqual(rulebook)
  const json = JSON.stringify(z.encode(rulebookSchema, rulebook))
  expect(decodeRulebook(new TextEncoder().encode(`${json}   `))).toEqual(rulebook)
})

it.each(vectors.refused)('an encoding with $name is refused', ({ content, bytes }) => {
  expect(() => decodePolicy(padded(content, bytes))).toThrow(
    expect.objectContaining({ code: 'invalid-plaintext' }),
  )
})

const symbol = fc.constantFrom('AAPL', 'BRK.B', 'MSFT', 'TSLA', 'V', 'ABCDEFGHIJK')
const rules = fc.record({
  canBuy: fc.boolean(),
  canSell: fc.boolean(),
  restricted: fc.uniqueArray(symbol),
})
const name = fc.constantFrom('Desk', 'constructor', 'R&D', '0')
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => bytesToHex(Uint8Array.from(bytes)))
const policies: fc.Arbitrary<Policy> = fc
  .option(fc.dictionary(name, rules, { minKeys: 1, noNullPrototype: true }), { nil: undefined })
  .chain((groups) => {
    const named = Object.keys(groups ?? {}).map((group) => fc.constant({ group }))
    const rule = fc.oneof(rules, ...named)
    return fc
      .record({
        employees: fc.dictionary(address, rule, { noNullPrototype: true }),
        default: fc.option(rule, { nil: undefined }),
        maxOrderNotional: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        allowWithdrawShares: fc.boolean(),
      })
      .map(({ default: byDefault, ...policy }) => ({
        ...policy,
        ...(groups && { groups }),
        ...(byDefault && { default: byDefault }),
      }))
  })

it('a policy survives its encoding whole, whatever the order of its members', () => {
  fc.assert(
    fc.property(policies, (policy) => {
      const turned = { ...policy, employees: Object.fromEntries(Object.entries(policy.employees).reverse()) }
      expect(decodePolicy(encodePolicy(policy))).toEqual(policy)
      expect(encodePolicy(turned)).toEqual(encodePolicy(policy))
      expect(policyHash(decodePolicy(encodePolicy(policy)))).toBe(policyHash(policy))
    }),
  )
})

it('bytes that decode at all are the encoding of what they decode to', () => {
  fc.assert(
    fc.property(policies, fc.nat(200), fc.nat(255), (policy, at, value) => {
      const bytes = encodePolicy(policy)
      bytes[at] = value
      let decoded: Policy | undefined
      try {
        decoded = decodePolicy(bytes)
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid-plaintext' })
      }
      if (decoded) expect(encodePolicy(decoded)).toEqual(bytes)
    }),
    { numRuns: 500 },
  )
})

/** A rulebook of so many employees, each of whom differs from all others in three restricted symbols. */
function differing(count: number): Policy {
  const tickers = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at))
  const employees: Policy['employees'] = {}
  for (let at = 0; at < count; at++) {
    const places = [at % 26, (at + 1 + (Math.floor(at / 26) % 12)) % 26, (at + 13 + (at % 11)) % 26]
    const restricted = [...new Set(places.map((place) => tickers[place] ?? ''))]
    employees[`0x${at.toString(16).padStart(40, '0')}`] = { canBuy: true, canSell: at % 2 === 0, restricted }
  }
  return { employees, maxOrderNotional: 1n, allowWithdrawShares: false }
}

it('the length of an encoding shows a size class alone, and thirty thousand employees who all differ are too many', () => {
  const lengths = [0, 30, 60, 90, 100, 1_000, 10_000].map((count) => encodePolicy(differing(count)).length)
  expect(lengths).toEqual([1_024, 1_024, 1_792, 2_560, 2_560, 28_672, 262_144])
  expect(() => encodePolicy(differing(30_000))).toThrow(expect.objectContaining({ code: 'invalid-bytes' }))
})
