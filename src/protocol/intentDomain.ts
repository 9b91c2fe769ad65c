import type { TypedDataDomain } from 'ethers'
import type { Hex } from './hex.js'

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
