// Writes what the verifier reads: DER and CBOR, also in forms that it refuses.
import { concatBytes, hexToBytes } from '../../protocol/hex.js'

type Part = Uint8Array | string

/** Bytes, or hex without `0x`. */
function bytesOf(part: Part): Uint8Array {
  return typeof part === 'string' ? hexToBytes(`0x${part}`) : part
}

function bigEndian(value: number, size: number): Uint8Array {
  return bytesOf(
    BigInt(value)
      .toString(16)
      .padStart(size * 2, '0'),
  )
}

/** One element of DER. */
export function der(tag: number, ...parts: Part[]): Uint8Array {
  const content = concatBytes(...parts.map(bytesOf))
  const size = content.length < 0x80 ? 0 : content.length < 0x100 ? 1 : 2
  const head = size === 0 ? [tag, content.length] : [tag, 0x80 + size]
  return concatBytes(
    Uint8Array.from(head),
    size === 0 ? content : bigEndian(content.length, size),
    ...(size === 0 ? [] : [content]),
  )
}

export const sequence = (...parts: Part[]) => der(0x30, ...parts)
const printable = (text: string) => der(0x13, new TextEncoder().encode(text))
/** A name with a common name alone. */
export const commonName = (text: string) => sequence(der(0x31, sequence('0603550403', printable(text))))

/** An integer of DER: as short as it can be, and not negative. */
export function integer(digits: Uint8Array): Uint8Array {
  const start = digits.findIndex((digit) => digit > 0)
  const short = digits.slice(start < 0 ? -1 : start)
  return der(0x02, (short[0] ?? 0) >= 0x80 ? '00' : '', short)
}

const CBOR_SIZES = [1, 2, 4, 8]

function head(major: number, value: number): Uint8Array {
  if (value < 24) return Uint8Array.of(major * 32 + value)
  const index = CBOR_SIZES.findIndex((size) => value < 256 ** size)
  return concatBytes(Uint8Array.of(major * 32 + 24 + index), bigEndian(value, CBOR_SIZES[index] ?? 8))
}

/** CBOR that is already encoded. */
export class Encoded {
  constructor(readonly bytes: Uint8Array) {}
}
export const encoded = (hex: string) => new Encoded(bytesOf(hex))

export type Item = number | string | null | Uint8Array | Encoded | readonly Item[] | Pairs
/** A map, in this order, which may have twin keys. */
export class Pairs {
  constructor(
    readonly pairs: readonly (readonly [Item, Item])[],
    readonly length: 'definite' | 'indefinite' = 'definite',
  ) {}
}

/** The shortest form of an item. */
export function cbor(item: Item): Uint8Array {
  if (item === null) return Uint8Array.of(0xf6)
  if (item instanceof Encoded) return item.bytes
  if (typeof item === 'number') return item < 0 ? head(1, -1 - item) : head(0, item)
  if (typeof item === 'string') return withHead(3, new TextEncoder().encode(item))
  if (item instanceof Uint8Array) return withHead(2, item)
  if (item instanceof Pairs) {
    const content = item.pairs.flat().map(cbor)
    if (item.length === 'definite') return concatBytes(head(5, item.pairs.length), ...content)
    return concatBytes(Uint8Array.of(0xbf), ...content, Uint8Array.of(0xff))
  }
  return concatBytes(head(4, item.length), ...item.map(cbor))
}

function withHead(major: number, content: Uint8Array): Uint8Array {
  return concatBytes(head(major, content.length), content)
}
