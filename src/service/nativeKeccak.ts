import { getHashes, hash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { keccak256 } from 'ethers'

const NATIVE = 'keccak-256'

/**
 * Makes every Keccak-256 of this process OpenSSL's: with ethers' own, the hashes of one authorization last a fifth of its
 * recovery. The OpenSSL of Node 24 has no Keccak-256; there it is noble's, which is newer and faster than the one that ethers brings.
 */
export function registerNativeKeccak(): void {
  keccak256.register(
    getHashes().includes(NATIVE) ? (data) => hash(NATIVE, data, 'buffer') : (data) => keccak_256(data),
  )
}
