import type { Bytes } from '../protocol/hex.js'
import { demand } from './errors.js'

/** Bytes that are read from their beginning to their end. Every fault is an AttestationError `malformed-evidence`. */
export interface Reader {
  /** The number of bytes that are not read yet. */
  readonly left: () => number
  /** The next bytes, without a copy. */
  readonly take: (length: number) => Bytes
  /** Big-endian integer of the next `size` bytes, at most 2^53 - 1. One below `min` has a shorter form, and is refused. */
  readonly uint: (size: number, min?: number) => number
}

export function readerOf(bytes: Bytes): Reader {
  let at = 0
  const left = () => bytes.length - at
  const take = (length: number) => {
    demand(length <= left())
    at += length
    return bytes.subarray(at - length, at)
  }
  const uint = (size: number, min = 0) => {
    const value = take(size).reduce((sum, byte) => sum * 256 + byte, 0)
    demand(value >= min && value < 2 ** 53)
    return value
  }
  return { left, take, uint }
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

/** @throws AttestationError `malformed-evidence` for other bytes */
export function ascii(bytes: Bytes): string {
  demand(bytes.every((byte) => byte < 0x80))
  return String.fromCharCode(...bytes)
}

/** The bytes of a text of letters below U+0100. */
export function latin1(text: string): Bytes {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

/** Lower-case hex, without `0x`. */
export function hexText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** SHA-256 of bytes, or of a text in UTF-8, in lower-case hex without `0x`. */
export async function sha256(value: Bytes | string): Promise<string> {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  return hexText(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
