import type { TypedDataDomain } from 'ethers'
import { type Bytes, concatBytes, type Hex, hexToBytes, uintToBytes } from './hex.js'

/** The chain and the escrow that an intent is valid for. */
export interface IntentDomain {
  chainId: number
  /** Address of `OrderEscrow`. */
  escrow: Hex
}

/** The EIP-712 domain of order intents and rulebook intents. */
export function intentDomain({ chainId, escrow }: IntentDomain): TypedDataDomain {
  return { name: 'ServiceIntent', version: '1', chainId, verifyingContract: escrow }
}

/** `uint256be(chainId) ‖ escrow`, 52 bytes: how the context of a sealed text begins that is valid for one domain. */
export function domainBytes({ chainId, escrow }: IntentDomain): Bytes {
  return concatBytes(uintToBytes(BigInt(chainId), 32), hexToBytes(escrow))
}
