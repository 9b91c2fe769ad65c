import { keccak_256 } from '@noble/hashes/sha3.js'
import { getAddress, keccak256, toUtf8Bytes } from 'ethers'
import { expect, test } from 'vitest'
import { registerNativeKeccak } from '../../src/service/nativeKeccak.js'

test('every Keccak-256 of the process is the same after it is registered', () => {
  const plain = '0x8ba1f109551bd432803012645ac136ddd64dba72'
  const checksummed = getAddress(plain)
  registerNativeKeccak()
  // Lengths around the rate of 136 bytes, where the padding begins another block.
  for (const length of [0, 1, 20, 64, 135, 136, 137, 271, 272, 273, 4_096]) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31) % 251)
    expect(keccak256(bytes)).toBe(`0x${Buffer.from(keccak_256(bytes)).toString('hex')}`)
  }
  expect(keccak256(toUtf8Bytes(''))).toBe(
    '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  )
  expect(getAddress(plain)).toBe(checksummed)
})
