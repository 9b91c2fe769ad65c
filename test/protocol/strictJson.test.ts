import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonError, parseStrictJson } from '../../src/protocol/strictJson.js'

const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

test('parseStrictJson agrees with JSON.parse on JSON without repeated or forbidden names', () => {
  const key = fc.string().filter((name) => !forbidden.has(name))
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

test.each([
  ['twice in one object', '{"a":1,"a":1}'],
  ['twice with space before the colon', '{"a" :1,"b":{},"a"\n:2}'],
  ['twice, once in escapes', '{"a":1,"\\u0061":2}'],
  ['twice in a nested object', '[{"x":{"a":1,"b":2,"a":3}}]'],
  ['empty and twice', '{"":1,"":2}'],
  ['twice around a string that ends in a backslash', '{"a":"\\\\","a":1}'],
  ['twice around a string that holds a quote and a colon', '{"a":"\\":","a":1}'],
])('parseStrictJson refuses a name that is there %s', (_what, text) => {
  expect(() => JSON.parse(text)).not.toThrow()
  expect(() => parseStrictJson(text)).toThrow(JsonError)
})

test.each(['__proto__', 'constructor', 'prototype'])(
  'parseStrictJson refuses %s as a name, not as a value',
  (name) => {
    expect(() => parseStrictJson(`{"${name}":{}}`)).toThrow(JsonError)
    expect(() => parseStrictJson(`[{"a":{"${name}":1}}]`)).toThrow(JsonError)
    const escaped = `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`
    expect(() => parseStrictJson(`{"${escaped}":{}}`)).toThrow(JsonError)
    expect(parseStrictJson(`{"a":["${name}"]}`)).toEqual({ a: [name] })
  },
)

test('parseStrictJson bounds the nesting at 32', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  expect(parseStrictJson(nested(32))).toBeInstanceOf(Array)
  expect(() => parseStrictJson(nested(33))).toThrow(JsonError)
  expect(() => parseStrictJson(nested(60_000))).toThrow(JsonError)
})

test('a message of parseStrictJson never quotes the text', () => {
  for (const text of ['{"canary":1,"canary":2}', '{"canary"', '{"__proto__":"canary"}']) {
    expect(() => parseStrictJson(text)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('canary') }),
    )
  }
})
