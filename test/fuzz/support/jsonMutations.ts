import type { Random } from '../../faults/random.js'
import type { Json } from './world.js'

const VALUES: readonly [unknown, ...unknown[]] = [
  null,
  true,
  0,
  -1,
  1e21,
  '',
  '0x',
  '0x0',
  '\u0000',
  '\ud800',
  '💥',
  'constructor',
  [],
  {},
  [[[]]],
  { toString: 1 },
  '9'.repeat(400),
  `0x${'ab'.repeat(5_000)}`,
]
const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'v', '', 'orderId', 'ct', '\u2028'] as const
const INSERTIONS = [
  '',
  ' ',
  '"',
  '{',
  '}',
  '[',
  ',',
  ':',
  '\\',
  '\0',
  '\ud800',
  '/**/',
  '1e999',
  'null',
] as const

/** The text of a body that is wrong in one way, or in a way that changes nothing. */
export function mutateJson(json: Json, random: Random): Buffer {
  const text = JSON.stringify(json)
  switch (random.integer(0, 8)) {
    case 0:
      return Buffer.from(JSON.stringify(withoutMember(json, random)))
    case 1:
      return Buffer.from(JSON.stringify({ ...json, [random.pick(NAMES)]: random.pick(VALUES) }))
    case 2:
      return Buffer.from(JSON.stringify({ ...json, [memberOf(json, random)]: random.pick(VALUES) }))
    case 3:
      return Buffer.from(JSON.stringify(withOtherText(json, random)))
    case 4:
      return Buffer.from(`{"${memberOf(json, random)}":1,${text.slice(1)}`)
    case 5:
      return nested(text, random)
    case 6:
      return Buffer.from(insertInto(text, random))
    case 7:
      return Buffer.from(text.slice(0, random.integer(0, text.length - 1)))
    default:
      return mutateBytes(Buffer.from(text), random, random.integer(1, 4))
  }
}

function memberOf(json: Json, random: Random): string {
  const [first = '', ...others] = Object.keys(json)
  return random.pick([first, ...others])
}

function withoutMember(json: Json, random: Random): Json {
  const left = memberOf(json, random)
  return Object.fromEntries(Object.entries(json).filter(([name]) => name !== left))
}

/** One member's text with a character more, less or another. */
function withOtherText(json: Json, random: Random): Json {
  const name = memberOf(json, random)
  const value = json[name]
  if (typeof value !== 'string') return { ...json, [name]: JSON.stringify(value) }
  const at = random.integer(0, value.length)
  const cut = random.integer(0, 2)
  const put = random.pick(['', '0', 'g', 'F', 'X', ' ', '\n', '００', 'é'])
  return { ...json, [name]: value.slice(0, at) + put + value.slice(at + cut) }
}

function nested(text: string, random: Random): Buffer {
  const depth = random.pick([1, 31, 32, 33, 10_000])
  return Buffer.from(
    random.chance(0.5) ? `${'['.repeat(depth)}${']'.repeat(depth)}` : '{"a":'.repeat(depth) + text,
  )
}

function insertInto(text: string, random: Random): string {
  const at = random.integer(0, text.length)
  return text.slice(0, at) + random.pick(INSERTIONS) + text.slice(at)
}

/** So many bytes flipped, put in, taken out or doubled. */
export function mutateBytes(bytes: Buffer, random: Random, times: number): Buffer {
  let mutated = bytes
  for (let i = 0; i < times; i++) mutated = mutateOnce(mutated, random)
  return mutated
}

function mutateOnce(bytes: Buffer, random: Random): Buffer {
  const at = random.integer(0, Math.max(0, bytes.length - 1))
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (random.integer(0, 4)) {
    case 0:
      return Buffer.concat([before, Buffer.of(random.integer(0, 255)), after.subarray(1)])
    case 1:
      return Buffer.concat([before, Buffer.of(random.integer(0, 255)), after])
    case 2:
      return Buffer.concat([before, after.subarray(random.integer(1, 8))])
    case 3:
      return Buffer.concat([before, after.subarray(0, random.integer(1, 64)), after])
    default:
      return Buffer.concat([
        before,
        Buffer.from(random.pick(['\r\n', '\n', '\r\n\r\n', ' ', '\t', '\0', ':'])),
        after,
      ])
  }
}
