import { createRpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import type { OrderReport } from '../../protocol/resolution.js'
import { createChainState } from '../chainState.js'
import { systemClock } from '../clock.js'
import { addressesOf, type EnclaveConfig, keysOf } from '../config.js'
import { createPortfolioStore } from '../stores.js'

/**
 * An order as its account's portfolio has it, for the owner who is about to resolve it. It shows what is confidential, to those who
 * can read the enclave's configuration, and so the ledger.
 * @throws ChainUnavailableError, ChainAnswerError, RunFailure `ledger-unreadable`
 */
export async function reportOrder(config: EnclaveConfig, orderId: Hex): Promise<OrderReport> {
  const { CHAIN_ID: chainId, RPC_URL: urls, RPC_TIMEOUT: timeoutMs } = config
  const addresses = addressesOf(config)
  const chain = createChainState({
    ...{ rpc: createRpc({ chainId, urls, timeoutMs }), chainId, addresses, depth: 0 },
    ...{ maxHeadAgeMs: config.CHAIN_MAX_HEAD_AGE, clock: systemClock },
  })
  const { head } = await chain.look()
  const { account, state } = await chain.escrow.orders(orderId, head.hash)
  const portfolios = createPortfolioStore(chain, keysOf(config))
  const { portfolio, hash } = await portfolios.load(account, head)
  return {
    ...{ chainId, escrow: addresses.orderEscrow, orderId, account, state, portfolioHash: hash },
    nonce: portfolio?.nonce ?? 0,
    entry: portfolio?.openOrders[orderId] ?? null,
  }
}
