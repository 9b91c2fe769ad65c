import { keccak256 as ethersKeccak256 } from 'ethers'
import type { Hex } from './hex.js'

/**
 * Keccak-256 as Ethereum uses it: the original padding, not that of SHA-3 (FIPS 202). By ethers, so that a faster
 * implementation that a program registers there serves everything that hashes.
 */
export function keccak256(bytes: Uint8Array): Hex {
  return `0x${ethersKeccak256(bytes).slice(2)}`
}
