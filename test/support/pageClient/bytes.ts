// Byte strings, their form in JSON, and integers in bytes: section 1 of docs/protocol.md.

/** Bytes in JSON: `0x`, then two digits for each byte. */
export type Hex = `0x${string}`

const HEX = /^0x(?:[0-9a-fA-F]{2})*$/

export const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8')

export const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

export const isHex = (value: unknown): value is Hex => typeof value === 'string' && HEX.test(value)

/** @throws Error when the text is not bytes, or not `length` of them */
export function fromHex(text: string, length?: number): Buffer {
  if (!isHex(text)) throw new Error('expected 0x and an even number of hexadecimal digits')
  const bytes = Buffer.from(text.slice(2), 'hex')
  if (length !== undefined && bytes.length !== length) throw new Error(`expected ${length} bytes`)
  return bytes
}

export const toInteger = (bytes: Uint8Array): bigint => BigInt(toHex(bytes))

/** The integer in exactly `length` bytes, big-endian. */
export function integerBytes(value: bigint, length: number): Buffer {
  if (value < 0n || value >= 1n << BigInt(8 * length)) throw new Error(`not an integer of ${length} bytes`)
  return Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex')
}

export const uint64be = (value: bigint): Buffer => integerBytes(value, 8)

export const uint256be = (value: bigint): Buffer => integerBytes(value, 32)
