// https://docs.soliditylang.org/en/latest/abi-spec.html#formal-specification-of-the-encoding: one word, 32 bytes.
import { ProtocolError } from './errors.js'
import type { Hex } from './hex.js'

/** A Solidity type that fits a word. */
export type WordType = 'bytes32' | 'address' | 'uint8' | 'uint64' | 'uint256'

const WORD_DIGITS = 64
const HEX_DIGITS = { bytes32: /^0x[0-9a-fA-F]{64}$/, address: /^0x[0-9a-fA-F]{40}$/ }
const UINT_LIMIT = { uint8: 1n << 8n, uint64: 1n << 64n, uint256: 1n << 256n }

/** The 64 hex digits of a value. @throws ProtocolError `invalid-bytes` if the value does not fit the type */
export function wordOf(type: WordType, value: Hex | bigint | undefined): string {
  if (type === 'bytes32' || type === 'address') {
    if (typeof value !== 'string' || !HEX_DIGITS[type].test(value)) throw notA(type)
    return value.slice(2).toLowerCase().padStart(WORD_DIGITS, '0')
  }
  if (typeof value !== 'bigint' || value < 0n || value >= UINT_LIMIT[type]) throw notA(type)
  return value.toString(16).padStart(WORD_DIGITS, '0')
}

function notA(type: WordType): ProtocolError {
  return new ProtocolError('invalid-bytes', `expected a value of type ${type}`)
}
