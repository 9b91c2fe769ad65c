// The part of CBOR (RFC 8949) that attestation documents use.
import type { Bytes } from '../protocol/hex.js'
import { ascii, type Reader, readerOf } from './bytes.js'
import { demand } from './errors.js'

export type CborMap = ReadonlyMap<number | string, Cbor>
export type Cbor = number | string | null | Bytes | readonly Cbor[] | CborMap

/** The deepest is dstack's evidence: map, events, event, payload. */
const MAX_DEPTH = 4
const INDEFINITE = 31
/** Ends a list or a map of indefinite length. */
const BREAK = 0xff
const NULL = 0xf6

/**
 * Reads the one item that fills the bytes. Lists and maps may have an indefinite length, strings may not. An announced length
 * allocates nothing.
 * @throws AttestationError `malformed-evidence`, also for twin keys, for a length in a longer form than it needs, and for types that
 *   no document has
 */
export function readCbor(bytes: Bytes): Cbor {
  const reader = readerOf(bytes)
  const item = itemOf(reader, reader.uint(1), 1)
  demand(reader.left() === 0)
  return item
}

function itemOf(reader: Reader, head: number, depth: number): Cbor {
  demand(depth <= MAX_DEPTH)
  const info = head & 31
  const next = (first = reader.uint(1)) => itemOf(reader, first, depth + 1)
  switch (head >> 5) {
    case 0:
      return argumentOf(reader, info)
    case 1:
      return -1 - argumentOf(reader, info)
    case 2:
      return reader.take(argumentOf(reader, info))
    case 3:
      return ascii(reader.take(argumentOf(reader, info)))
    case 4: {
      const list: Cbor[] = []
      forEach(reader, info, (first) => list.push(next(first)))
      return list
    }
    case 5: {
      const map = new Map<number | string, Cbor>()
      forEach(reader, info, (first) => {
        const key = next(first)
        demand((typeof key === 'number' || typeof key === 'string') && !map.has(key))
        map.set(key, next())
      })
      return map
    }
    default:
      demand(head === NULL)
      return null
  }
}

/** The number behind the head: a value, or a length. */
function argumentOf(reader: Reader, info: number): number {
  if (info < 24) return info
  demand(info < 28)
  const size = 2 ** (info - 24)
  return reader.uint(size, size === 1 ? 24 : 2 ** (size * 4))
}

/** Calls `read` with the first byte of each item of a list, or of each key of a map. */
function forEach(reader: Reader, info: number, read: (first: number) => void): void {
  if (info === INDEFINITE)
    for (let first = reader.uint(1); first !== BREAK; first = reader.uint(1)) read(first)
  else for (let left = argumentOf(reader, info); left > 0; left--) read(reader.uint(1))
}

export function isBytes(value: Cbor | undefined): value is Bytes {
  return value instanceof Uint8Array
}

export function isList(value: Cbor | undefined): value is readonly Cbor[] {
  return Array.isArray(value)
}

export function isMap(value: Cbor | undefined): value is CborMap {
  return value instanceof Map
}
