import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodePadded, encodePadded } from '../../src/protocol/plaintext.js'
import { JsonError, parseStrictJson } from '../../src/protocol/strictJson.js'

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
  ['a repeated member', Buffer.from('{"cash":"1","cash":"2"}')],
  ['something after the value', Buffer.from('{} {}')],
  ['no JSON', Buffer.from('hello')],
  ['nothing', Buffer.of()],
  ['bytes that are not UTF-8', Buffer.of(0x22, 0xff, 0x22)],
  ['a byte order mark', Buffer.of(0xef, 0xbb, 0xbf, 0x31)],
])('a padded plaintext with %s is refused', (_, bytes) => {
  expect(() => decodePadded(Uint8Array.from(bytes))).toThrow(
    expect.objectContaining({ code: 'invalid-plaintext' }),
  )
})

const FORBIDDEN = ['__proto__', 'constructor', 'prototype']

it('strict JSON is what JSON.parse reads, where no name is repeated or forbidden', () => {
  const key = fc.string().filter((name) => !FORBIDDEN.includes(name))
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1, '\t'), (json, indent) => {
      const text = JSON.stringify(json, null, indent)
      expect(parseStrictJson(text)).toEqual(JSON.parse(text))
    }),
    { numRuns: 500 },
  )
})

it.each([
  '{"a":1,"a":1}',
  '{"a" :1,"b":{},"a"\n:2}',
  '{"a":1,"\\u0061":2}',
  '[{"x":{"a":1,"b":2,"a":3}}]',
  '{"":1,"":2}',
  '{"a":"\\\\","a":1}',
  '{"a":"\\":","a":1}',
  ...FORBIDDEN.map((name) => `{"${name}":{}}`),
  '[{"a":{"__proto__":1}}]',
  '{"\\u005f_proto__":1}',
  `${'['.repeat(33)}${']'.repeat(33)}`,
  `${'['.repeat(60_000)}${']'.repeat(60_000)}`,
])('strict JSON is not %j', (text) => {
  expect(() => JSON.parse(text)).not.toThrow()
  expect(() => parseStrictJson(text)).toThrow(JsonError)
})

it('strict JSON takes a forbidden name as a value, and 32 levels', () => {
  expect(parseStrictJson(JSON.stringify({ a: FORBIDDEN }))).toEqual({ a: FORBIDDEN })
  expect(parseStrictJson(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeInstanceOf(Array)
})

it.each(['{"canary":1,"canary":2}', '{"canary"', '{"__proto__":"canary"}'])(
  'a refusal of strict JSON does not quote it: %s',
  (text) => {
    const message = expect.not.stringContaining('canary')
    expect(() => parseStrictJson(text)).toThrow(expect.objectContaining({ message }))
  },
)
