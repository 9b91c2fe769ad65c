import fc from 'fast-check'
import type { z } from 'zod'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import { POINT } from './world.js'

type JsonSchema = z.core.JSONSchema._JSONSchema

const HEX = '^0x(?:[0-9a-fA-F]{2})*$'
const MOST_BYTES = 4_096
const MOST_ITEMS = 3

/** So many bytes, as hex. */
export const anyBytes = (minLength: number, maxLength: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength, maxLength }).map((bytes) => bytesToHex(bytes))

/** Values of a JSON Schema, as far as the API's schemas go. */
export function anyValueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (typeof schema === 'boolean') return fc.jsonValue()
  const choices = schema.oneOf ?? schema.anyOf
  if (choices !== undefined) return fc.oneof(...choices.map(anyValueOf))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'object': {
      const members = Object.entries(schema.properties ?? {}).map(([name, one]) => {
        const any = anyValueOf(one)
        return [name, name === 'epk' ? fc.oneof(fc.constant(POINT), any) : any] as const
      })
      return fc.record(Object.fromEntries(members), { requiredKeys: schema.required ?? [] })
    }
    case 'array':
      return fc.array(fc.jsonValue(), { maxLength: MOST_ITEMS })
    case 'integer': {
      const { minimum = Number.MIN_SAFE_INTEGER, exclusiveMinimum: above } = schema
      const min = Math.max(0, typeof above === 'number' ? above + 1 : minimum)
      return fc.integer({ min, max: 2 ** 31 - 1 })
    }
    case 'string':
      return textOf(schema)
    default:
      return fc.jsonValue()
  }
}

function textOf(schema: z.core.JSONSchema.BaseSchema): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  if (format === 'uuid') return fc.uuid({ version: 4 })
  if (pattern === undefined) return fc.string()
  if (pattern === HEX) {
    const bytesIn = (length: number) => Math.max(0, (length - 2) / 2)
    return anyBytes(bytesIn(minLength), Math.min(MOST_BYTES, bytesIn(maxLength)))
  }
  return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length <= maxLength)
}
