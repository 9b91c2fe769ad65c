import { getHashes, hash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { keccak256 } from 'ethers'
import { type DecodeHex, registerDecodeHex } from '../protocol/hex.js'

const NATIVE = 'keccak-256'

/**
 * Makes every Keccak-256 of this process OpenSSL's, seven times as fast as JavaScript's, and has Node decode hex: an order's commit,
 * the checksum of an address and an authorization's digest are most of what a request computes. The OpenSSL of Node 24 leaves
 * Keccak-256 out; there it is noble's, which is newer and faster than the one that ethers brings.
 */
export function registerNativeBytes(): void {
  registerDecodeHex(decodeHex)
  keccak256.register(
    getHashes().includes(NATIVE) ? (data) => hash(NATIVE, data, 'buffer') : (data) => keccak_256(data),
  )
}

/**
 * Node stops at the first character that is no digit, but takes U+0130 for the digit 0 (its low byte): nothing but ASCII may get
 * there. The copy owns its memory, while Node's bytes lie in a pool.
 */
const decodeHex: DecodeHex = (digits) => {
  if (Buffer.byteLength(digits) !== digits.length) return undefined
  const bytes = Buffer.from(digits, 'hex')
  return 2 * bytes.length === digits.length ? new Uint8Array(bytes) : undefined
}
