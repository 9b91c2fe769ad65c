import type { Hex } from '../../protocol/hex.js'
import type { OrderReport } from '../../protocol/resolution.js'
import { type EnclaveConfig, keysOf } from '../config.js'
import { createPortfolioStore } from '../stores.js'
import { chainOf } from './chain.js'

/**
 * An order as its account's portfolio has it, for the owner who is about to resolve it. It shows what is confidential, to those who
 * can read the enclave's configuration, and so the ledger.
 * @throws ChainUnavailableError, ChainAnswerError, RunFailure `ledger-unreadable`
 */
export async function reportOrder(config: EnclaveConfig, orderId: Hex): Promise<OrderReport> {
  const { chain } = chainOf(config)
  const { head } = await chain.look()
  const { account, state } = await chain.escrow.orders(orderId, head.hash)
  const portfolios = createPortfolioStore(chain, keysOf(config))
  const { portfolio, hash } = await portfolios.load(account, head)
  return {
    ...{ chainId: chain.chainId, escrow: chain.escrow.address, orderId, account, state, portfolioHash: hash },
    nonce: portfolio?.nonce ?? 0,
    entry: portfolio?.openOrders[orderId] ?? null,
  }
}
