import { expect, it } from 'vitest'
import { decodePadded, encodePadded } from '../../src/protocol/plaintext.js'

const bytesOf = (text: string) => new TextEncoder().encode(text)

it('a padded plaintext is a multiple of the block, and reads as what was put in', () => {
  const bytes = encodePadded({ name: 'ü' }, 256)
  expect(bytes).toHaveLength(256)
  expect(decodePadded(bytes)).toEqual({ name: 'ü' })
})

it('a padded plaintext shrinks by one block at a time, and only once two are empty', () => {
  const bytes = (length: number, previous: number) => encodePadded('x'.repeat(length), 512, previous).length
  expect(bytes(100, 0)).toBe(512)
  expect(bytes(100, 1_024)).toBe(1_024)
  expect(bytes(100, 1_536)).toBe(1_024)
  expect(bytes(100, 3_072)).toBe(2_560)
  expect(bytes(3_000, 512)).toBe(3_072)
})

it.each([
  ['a repeated member', '{"cash":"1","cash":"2"}'],
  ['a prototype member', '{"employees":{"__proto__":{"canBuy":true}}}'],
  ['something after the value', '{} {}'],
  ['no JSON', 'hello'],
  ['nothing', ''],
])('a padded plaintext with %s is refused', (_, text) => {
  expect(() => decodePadded(bytesOf(text))).toThrow(expect.objectContaining({ code: 'invalid-plaintext' }))
})

it('a padded plaintext that is not UTF-8, or begins with a byte order mark, is refused', () => {
  for (const bytes of [Uint8Array.of(0x22, 0xff, 0x22), Uint8Array.of(0xef, 0xbb, 0xbf, 0x31)]) {
    expect(() => decodePadded(bytes)).toThrow(expect.objectContaining({ code: 'invalid-plaintext' }))
  }
})
