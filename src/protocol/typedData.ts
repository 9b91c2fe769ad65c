import { TypedDataEncoder } from 'ethers'
import { bytesToHex, type Hex, hexToBytes } from './hex.js'

/** The EIP-712 digest of a message: the value to sign. https://eips.ethereum.org/EIPS/eip-712 */
export function typedDataDigest(...typedData: Parameters<typeof TypedDataEncoder.hash>): Hex {
  return bytesToHex(hexToBytes(TypedDataEncoder.hash(...typedData)))
}
