import { hexToBytes as decode, bytesToHex as encode } from '@noble/hashes/utils.js'
import * as z from 'zod/mini'
import { ProtocolError } from './errors.js'

/** `0x` and an even number of hex digits. Schemas return lower case, except for addresses, which are checksummed. */
export type Hex = `0x${string}`

/** A byte string that owns its memory, which WebCrypto requires. */
export type Bytes = Uint8Array<ArrayBuffer>

/** The API's description shows it. */
const FORM = /^0x(?:[0-9a-fA-F]{2})*$/

/** A string of one piece, which is read faster than one that is put together. */
function toLowerHex(text: string): Hex {
  return `0x${text.slice(2).toLowerCase()}`
}

/** Lower-case `0x` hex of the bytes. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${encode(bytes)}`
}

/**
 * The bytes of a `0x` hex string.
 * @throws ProtocolError `invalid-bytes`
 */
export function hexToBytes(hex: string): Bytes {
  if (!FORM.test(hex))
    throw new ProtocolError('invalid-bytes', 'expected 0x and an even number of hex digits')
  return decode(hex.slice(2))
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

const lowerHex = z.custom<Hex>()

/** Hex on the wire: either case in, lower case out, `min` to `max` bytes (inclusive). */
export function hexBetween(min: number, max: number) {
  const message =
    min === max ? `expected 0x and ${min * 2} hex digits` : `expected 0x and hex of ${min} to ${max} bytes`
  return z.codec(
    z
      .string()
      .check(z.maxLength(2 + max * 2, message), z.regex(FORM, message), z.minLength(2 + min * 2, message)),
    lowerHex,
    { decode: toLowerHex, encode: (hex) => hex },
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
