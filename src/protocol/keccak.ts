import { keccak256 as ethersKeccak256 } from 'ethers'
import type { Hex } from './hex.js'

/**
 * Keccak-256 with the original padding, not that of SHA-3 (FIPS 202). Calls ethers, so a faster implementation
 * registered there serves every caller.
 */
export function keccak256(bytes: Uint8Array): Hex {
  return `0x${ethersKeccak256(bytes).slice(2)}`
}
