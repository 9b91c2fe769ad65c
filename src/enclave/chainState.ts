import type { Provider } from 'ethers'
import { type Contracts, createContracts } from '../chain/contracts.js'
import { ChainAnswerError } from '../chain/errors.js'
import { createUsdc, type Usdc } from '../chain/usdc.js'
import type { ContractAddresses } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'

/** One block: what is read together is read there, so that it fits together. */
export interface BlockPoint {
  number: number
  /** Unix seconds. */
  timestamp: number
}

/** The chain as the enclave sees it, through its own nodes. */
export interface ChainState extends Contracts {
  readonly chainId: number
  readonly addresses: ContractAddresses
  /** The newest block, never an older one than before. @throws ChainAnswerError when a node lags behind */
  latest(): Promise<BlockPoint>
  usdc(): Promise<Usdc>
}

interface ChainStateOptions {
  provider: Provider
  chainId: number
  addresses: ContractAddresses
}

export function createChainState({ provider, chainId, addresses }: ChainStateOptions): ChainState {
  const contracts = createContracts(provider, addresses)
  let highest = 0
  let usdcAddress: Hex | undefined
  return {
    ...contracts,
    chainId,
    addresses,
    async latest() {
      const block = await provider.getBlock('latest')
      if (block === null || block.number < highest) throw new ChainAnswerError('the node lags behind')
      highest = block.number
      return { number: block.number, timestamp: block.timestamp }
    },
    async usdc() {
      usdcAddress ??= await contracts.escrow.usdc()
      return createUsdc(provider, usdcAddress)
    },
  }
}
