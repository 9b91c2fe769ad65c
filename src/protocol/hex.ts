import { bytesToHex as encode } from '@noble/hashes/utils.js'
import * as z from 'zod'
import { ProtocolError } from './errors.js'

/** `0x` and an even number of hex digits. Schemas return lower case, except for addresses, which are checksummed. */
export type Hex = `0x${string}`

/** A byte string that owns its memory, which WebCrypto requires. */
export type Bytes = Uint8Array<ArrayBuffer>

/** The pattern that the API's description shows. */
const HEX_PATTERN = '^0x(?:[0-9a-fA-F]{2})*$'

const NO_DIGIT = -1
/** The value of each ASCII character as a hexadecimal digit. */
const DIGITS = new Int8Array(128).fill(NO_DIGIT)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  for (const form of [digit, digit.toUpperCase()]) DIGITS[form.charCodeAt(0)] = value
}

function digitAt(hex: string, at: number): number {
  return DIGITS[hex.charCodeAt(at)] ?? NO_DIGIT
}

/** A table lookup loop needs a quarter of a regular expression's time for a ciphertext. */
function isHex(text: string): boolean {
  if (!text.startsWith('0x') || text.length % 2 === 1) return false
  let found = 0
  for (let at = 2; at < text.length; at++) found |= digitAt(text, at)
  return found >= 0
}

/** Lower-case `0x` hex of the bytes. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${encode(bytes)}`
}

/**
 * The bytes of a `0x` hex string. V8's own `Uint8Array.fromHex` is several times slower.
 * @throws ProtocolError `invalid-bytes`
 */
export function hexToBytes(hex: string): Bytes {
  if (!isHex(hex)) throw new ProtocolError('invalid-bytes', 'expected 0x and an even number of hex digits')
  const bytes = new Uint8Array((hex.length - 2) / 2)
  for (let index = 0; index < bytes.length; index++) {
    const at = 2 + 2 * index
    bytes[index] = (digitAt(hex, at) << 4) | digitAt(hex, at + 1)
  }
  return bytes
}

/** The number of bytes in a hex string. */
export function hexLength(hex: Hex): number {
  return (hex.length - 2) / 2
}

/** Throws unless `bytes` has exactly `length` bytes: `"iv" expected 12 bytes, got 16`. */
export function assertLength(label: string, bytes: Uint8Array, length: number): void {
  if (bytes.length !== length) {
    throw new ProtocolError('invalid-bytes', `"${label}" expected ${length} bytes, got ${bytes.length}`)
  }
}

/** Concatenates byte strings. */
export function concatBytes(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

/** Big-endian unsigned integer in exactly `length` bytes. @throws ProtocolError `invalid-bytes` when it does not fit */
export function uintToBytes(value: bigint, length: number): Bytes {
  if (value < 0n || value >= 1n << BigInt(length * 8)) {
    throw new ProtocolError('invalid-bytes', `integer does not fit ${length} bytes`)
  }
  return hexToBytes(`0x${value.toString(16).padStart(length * 2, '0')}`)
}

/** Big-endian unsigned integer of the bytes. */
export function bytesToUint(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(bytesToHex(bytes))
}

const lowerHex = z.templateLiteral(['0x', z.string()])

/** Hex on the wire: either case in, lower case out, `min` to `max` bytes (inclusive). */
export function hexBetween(min: number, max: number) {
  const message =
    min === max ? `expected 0x and ${min * 2} hex digits` : `expected 0x and hex of ${min} to ${max} bytes`
  return z.codec(
    z
      .string()
      .max(2 + max * 2, message)
      .refine(isHex, message)
      .min(2 + min * 2, message)
      .meta({ pattern: HEX_PATTERN }),
    lowerHex,
    { decode: (text) => `0x${text.slice(2).toLowerCase()}` as const, encode: (hex) => hex },
  )
}

/** Hex of exactly `length` bytes. */
export function hexOf(length: number) {
  return hexBetween(length, length)
}

/** 32 bytes: an order, an institution, an account, a digest, a commit. */
export const bytes32Schema = hexOf(32)

/** 32 zero bytes, which the contracts return for "none". */
export const ZERO_BYTES32: Hex = `0x${'0'.repeat(64)}`
