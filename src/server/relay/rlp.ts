// Recursive Length Prefix, as the yellow paper's appendix B has it. https://ethereum.org/developers/docs/data-structures-and-encoding/rlp
/** A byte string, or a list of such. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** What a prefix adds to the length of a byte string and of a list; of more than 55 bytes it tells the length's length. */
const STRING = 0x80
const LIST = 0xc0
const SHORT = 55

export function encodeRlp(item: RlpItem): Buffer {
  if (item instanceof Uint8Array) return encodeBytes(item)
  const payload = Buffer.concat(item.map(encodeRlp))
  return Buffer.concat([prefix(LIST, payload.length), payload])
}

/** The shortest big-endian bytes of an unsigned integer: none for zero. */
export function rlpUint(value: bigint | number): Buffer {
  if (value <= 0) return Buffer.alloc(0)
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function encodeBytes(bytes: Uint8Array): Buffer {
  const [first] = bytes
  if (bytes.length === 1 && first !== undefined && first < STRING) return Buffer.from(bytes)
  return Buffer.concat([prefix(STRING, bytes.length), bytes])
}

function prefix(kind: number, length: number): Buffer {
  if (length <= SHORT) return Buffer.of(kind + length)
  const bytes = rlpUint(length)
  return Buffer.concat([Buffer.of(kind + SHORT + bytes.length), bytes])
}
