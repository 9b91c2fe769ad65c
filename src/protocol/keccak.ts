import { keccak256 as ethersKeccak256 } from 'ethers'
import type { Hex } from './hex.js'

/**
 * Keccak-256 with the original padding, not that of SHA-3 (FIPS 202). Calls ethers, so a faster implementation
 * registered there serves every caller.
 */
export function keccak256(bytes: Uint8Array): Hex {
  return `0x${ethersKeccak256(bytes).slice(2)}`
}

/** `keccak256(utf8(text))`. Copies the bytes: in a frame with a foreign TextEncoder they would be of another Uint8Array, which ethers refuses. */
export function textHash(text: string): Hex {
  return keccak256(Uint8Array.from(new TextEncoder().encode(text)))
}
