import { TypedDataEncoder } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checksum } from '../../src/protocol/address.js'
import { authorizationDigest, authorizationDomain } from '../../src/protocol/authorization.js'
import { authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import { bytesToHex } from '../../src/protocol/hex.js'
import { createStructHash } from '../../src/protocol/structHash.js'
import { anyAuthorization } from '../support/authorizationArbitrary.js'

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => checksum(bytesToHex(bytes)))

test('a digest is the one that ethers computes, of every type and in every domain', () => {
  fc.assert(
    fc.property(anyAuthorization, fc.maxSafeNat(), address, (authorization, chainId, verifyingContract) => {
      const { primaryType, message } = authorization
      const domain = { chainId, verifyingContract }
      const types = { [primaryType]: authorizationTypes[primaryType] }
      const expected = TypedDataEncoder.hash(authorizationDomain(primaryType, domain), types, message)
      expect(authorizationDigest(authorization, domain)).toBe(expected)
    }),
    { numRuns: 300 },
  )
})

const hash = createStructHash('Example', [
  { name: 'id', type: 'bytes32' },
  { name: 'owner', type: 'address' },
  { name: 'small', type: 'uint64' },
  { name: 'large', type: 'uint256' },
  { name: 'blob', type: 'bytes' },
])
const good = {
  id: bytesToHex(new Uint8Array(32)),
  owner: bytesToHex(new Uint8Array(20)),
  small: 2n ** 64n - 1n,
  large: 2n ** 256n - 1n,
  blob: '0x',
} as const

test.each([
  ['a shorter word', { id: '0x00' }],
  ['a longer word', { id: `${good.id}00` as const }],
  ['a number for a word', { id: 1n }],
  ['a longer address', { owner: good.id }],
  ['a uint64 of 65 bits', { small: 2n ** 64n }],
  ['a uint256 of 257 bits', { large: 2n ** 256n }],
  ['a negative number', { large: -1n }],
  ['text for a number', { large: '0x01' }],
  ['half a byte', { blob: '0x0' }],
  ['a number for bytes', { blob: 1n }],
] as const)('%s is refused, not hashed', (_, wrong) => {
  expect(hash(good)).toMatch(/^0x[0-9a-f]{64}$/)
  expect(() => hash({ ...good, ...wrong })).toThrow(expect.objectContaining({ code: 'invalid-bytes' }))
})
