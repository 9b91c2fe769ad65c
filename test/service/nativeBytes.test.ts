import { keccak_256 } from '@noble/hashes/sha3.js'
import { getAddress, keccak256, toUtf8Bytes } from 'ethers'
import { expect, test } from 'vitest'
import {
  bytesToHex,
  hexBetween,
  hexToBytes,
  referenceDecodeHex,
  registerDecodeHex,
} from '../../src/protocol/hex.js'
import { registerNativeBytes } from '../../src/service/nativeBytes.js'

test('every Keccak-256 of the process is the same after it is registered', () => {
  const plain = '0x8ba1f109551bd432803012645ac136ddd64dba72'
  const checksummed = getAddress(plain)
  registerNativeBytes()
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

test('hex is decoded as before', () => {
  const texts = [
    '',
    '0',
    '00',
    'aB',
    'a ',
    ' a',
    '0g',
    'g0',
    '/0',
    ':0',
    '0x',
    '\u0130\u0130',
    '0\u0130',
    'é0',
    'é',
    '\ud800',
    '\0\0',
    '++',
  ]
  const long = Array.from({ length: 5_000 }, (_, index) =>
    ((index * 31) % 256).toString(16).padStart(2, '0'),
  ).join('')
  texts.push(long, long.toUpperCase(), `${long}\u0161b`, `\u0161b${long}`, `${long}0\n`)
  const outcomes = () =>
    texts.map((text) => {
      const isValid = hexBetween(0, 10_000).safeParse(`0x${text}`).success
      try {
        const bytes = hexToBytes(`0x${text}`)
        return {
          isValid,
          bytes,
          ownsMemory: bytes.buffer.byteLength === bytes.length,
          back: bytesToHex(bytes),
        }
      } catch (error) {
        return { isValid, error }
      }
    })
  registerDecodeHex(referenceDecodeHex)
  const before = outcomes()
  registerNativeBytes()
  expect(outcomes()).toEqual(before)
  expect(before.map(({ isValid }) => isValid)).toEqual(before.map((outcome) => 'bytes' in outcome))
  expect(before.filter(({ isValid }) => isValid)).toHaveLength(5)
})
