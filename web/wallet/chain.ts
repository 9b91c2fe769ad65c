import { foreignCode } from '../../src/client/index.js'
import type { Settings } from '../settings.js'
import type { Words } from '../words/contractWords.js'
import { PageError } from '../words/failures.js'
import type { FoundWallet } from './discovery.js'

/** The wallet does not know the chain (EIP-3085). */
const UNKNOWN_CHAIN = 4902
/** The user rejected the request, or one is already pending (EIP-1193): the wallet supports it. */
const PERSON = new Set<unknown>([4001, -32_002])

/** The wallet does not know the platform's chain, and the page cannot add it. */
export class UnknownChainError extends PageError {
  override readonly name = 'UnknownChainError'

  override readonly words: Words

  constructor({ name, id }: Pick<Settings['chain'], 'name' | 'id'>, options?: ErrorOptions) {
    super(`the wallet does not know chain ${id}`, options)
    this.words = [
      'Your wallet does not know this chain',
      `Add ${name}, chain id ${id}, among the networks in your wallet, and try again.`,
    ]
  }
}

/**
 * Switches the wallet to the platform's chain, adding the chain if unknown.
 * @throws UnknownChainError if it cannot be added: the page has no node to name, or the wallet refuses it
 */
export async function switchChain(
  { provider }: FoundWallet,
  { chain }: Pick<Settings, 'chain'>,
): Promise<void> {
  const chainId = `0x${chain.id.toString(16)}`
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] })
  } catch (error) {
    if (foreignCode(error) !== UNKNOWN_CHAIN) throw error
    if (chain.rpcUrl === null) throw new UnknownChainError(chain, { cause: error })
    const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
    const added = { chainId, chainName: chain.name, rpcUrls: [chain.rpcUrl], nativeCurrency }
    try {
      await provider.request({ method: 'wallet_addEthereumChain', params: [added] })
    } catch (refusal) {
      throw PERSON.has(foreignCode(refusal)) ? refusal : new UnknownChainError(chain, { cause: refusal })
    }
  }
}
