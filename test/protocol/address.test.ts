import { getAddress, isAddress } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressSchema, checksum } from '../../src/protocol/address.js'
import { bytesToHex } from '../../src/protocol/hex.js'

const plain = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytesToHex)
/** Any mixture of cases, which hardly ever is the right one. */
const mixed = fc
  .tuple(plain, fc.infiniteStream(fc.boolean()))
  .map(
    ([address, cases]) =>
      `0x${[...address.slice(2)].map((digit) => (cases.next().value ? digit.toUpperCase() : digit)).join('')}`,
  )

test('an address has the checksum that ethers computes, whether or not it was seen before', () => {
  fc.assert(
    fc.property(plain, (address) => {
      expect([checksum(address), checksum(address)]).toEqual([getAddress(address), getAddress(address)])
    }),
  )
})

test('an address is taken in one case, and in two with the right checksum only', () => {
  fc.assert(
    fc.property(fc.oneof(plain, mixed, plain.map(getAddress)), (address) => {
      expect(addressSchema.safeParse(address).success).toBe(isAddress(address))
    }),
  )
  const [lower, upper] = [`0x${'ab'.repeat(20)}`, `0x${'AB'.repeat(20)}`]
  expect([lower, upper].map((address) => addressSchema.parse(address))).toEqual(
    [lower, lower].map(getAddress),
  )
  expect(addressSchema.safeParse(`0x${'aB'.repeat(20)}`).success).toBe(false)
})
