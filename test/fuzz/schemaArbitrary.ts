import fc from 'fast-check'
import type { z } from 'zod'
import { bytesToHex } from '../../src/protocol/hex.js'
import { POINT } from './world.js'

type JsonSchema = z.core.JSONSchema._JSONSchema

const HEX = '^0x(?:[0-9a-fA-F]{2})*$'
const MOST_HEX = 8_192
const MOST_ITEMS = 3

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
        // Any point on the curve will do: whether anybody can open an envelope is not the server's business.
        const value = name === 'epk' ? fc.oneof(fc.constant(POINT), anyValueOf(one)) : anyValueOf(one)
        return [name, value] as const
      })
      return fc.record(Object.fromEntries(members), { requiredKeys: schema.required ?? [] })
    }
    case 'array':
      return fc.array(fc.jsonValue(), { maxLength: MOST_ITEMS })
    case 'integer': {
      const { minimum = Number.MIN_SAFE_INTEGER, exclusiveMinimum: above } = schema
      return fc.integer({
        min: Math.max(0, typeof above === 'number' ? above + 1 : minimum),
        max: 2 ** 31 - 1,
      })
    }
    case 'string':
      return textOf(schema)
    default:
      return fc.jsonValue()
  }
}

function textOf(schema: z.core.JSONSchema.BaseSchema): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = MOST_HEX } = schema
  if (format === 'uuid') return fc.uuid({ version: 4 })
  if (pattern === undefined) return fc.string()
  if (pattern === HEX) {
    const bytes = {
      minLength: Math.max(0, minLength - 2) / 2,
      maxLength: Math.min(maxLength, MOST_HEX) / 2 - 1,
    }
    return fc.uint8Array(bytes).map((drawn): string => bytesToHex(drawn))
  }
  return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length <= maxLength)
}
