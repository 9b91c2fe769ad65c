import type { Hex } from '../../protocol/hex.js'
import type { OrderReport } from '../../protocol/resolution.js'
import type { CommonConfig } from '../commonSettings.js'
import type { EnclaveKeys } from '../keys/keys.js'
import { createPortfolioStore } from '../stores.js'
import { chainOf } from './chain.js'

/** How long after its deadline an order is one that no run can end. Seconds. */
const OVERDUE_S = 86_400

/**
 * An order as its account's portfolio has it, for the owner who is about to resolve it. It shows what is confidential.
 * @returns `isOverdue`: whether it is still open a day after its deadline
 * @throws ChainUnavailableError, ChainAnswerError, RunFailure `ledger-unreadable`
 */
export async function reportOrder(
  config: CommonConfig,
  keys: Pick<EnclaveKeys, 'ledgerKey'>,
  orderId: Hex,
): Promise<{ readonly report: OrderReport; readonly isOverdue: boolean }> {
  const { chain } = chainOf(config)
  const { head } = await chain.look()
  const { account, state, deadline } = await chain.escrow.orders(orderId, head.hash)
  const { portfolio, hash } = await createPortfolioStore(chain, keys).load(account, head)
  return {
    report: {
      ...{ chainId: chain.chainId, escrow: chain.escrow.address, orderId, account, state },
      portfolioHash: hash,
      nonce: portfolio?.nonce ?? 0,
      entry: portfolio?.openOrders[orderId] ?? null,
    },
    isOverdue: state === 'OPEN' && head.timestamp >= deadline + OVERDUE_S,
  }
}
