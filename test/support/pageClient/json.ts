// The content of answers and of opened envelopes is unknown until it is read member by member.
import { type Hex, isHex } from './bytes.js'

export type JsonObject = Readonly<Record<string, unknown>>

const DECIMAL = /^(?:0|[1-9][0-9]*)$/

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @throws Error when the value is not an object; so do the others for what they ask */
export function objectOf(value: unknown): JsonObject {
  if (!isObject(value)) throw new Error('expected an object')
  return value
}

export function textOf(object: JsonObject, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw new Error(`${name}: expected a string`)
  return value
}

export function hexOf(object: JsonObject, name: string): Hex {
  const value = object[name]
  if (!isHex(value)) throw new Error(`${name}: expected bytes`)
  return value
}

export function integerOf(object: JsonObject, name: string): number {
  const value = object[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Error(`${name}: expected an integer`)
  }
  return value
}

/** Money or a quantity: base units in a decimal string. */
export function unitsOf(object: JsonObject, name: string): bigint {
  const value = textOf(object, name)
  if (!DECIMAL.test(value)) throw new Error(`${name}: expected base units`)
  return BigInt(value)
}

export function listOf(object: JsonObject, name: string): readonly unknown[] {
  const value = object[name]
  if (!Array.isArray(value)) throw new Error(`${name}: expected an array`)
  return value
}

/** The object's members with each value read by `read`. */
export function mapOf<T>(value: unknown, read: (inner: JsonObject) => T): Record<string, T> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([name, inner]) => [name, read(objectOf(inner))]),
  )
}

/** RFC 8785 for what a rulebook holds: section 12 of docs/protocol.md. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`
}
