import { TypedDataEncoder, type TypedDataField } from 'ethers'
import { bytesToHex, type Hex, hexToBytes } from './hex.js'

/** The EIP-712 digest of a message: the value to sign. https://eips.ethereum.org/EIPS/eip-712 */
export function typedDataDigest(...typedData: Parameters<typeof TypedDataEncoder.hash>): Hex {
  return bytesToHex(hexToBytes(TypedDataEncoder.hash(...typedData)))
}

/** hashStruct of a message of the one type. */
export function structHash(types: Record<string, TypedDataField[]>, message: Record<string, unknown>): Hex {
  return bytesToHex(hexToBytes(TypedDataEncoder.from(types).hash(message)))
}
