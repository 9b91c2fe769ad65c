import type { Authorization } from '../../src/protocol/authorization.js'
import type { PrimaryType } from '../../src/protocol/authorizationTypes.js'
import {
  batchBurn,
  batchMint,
  orderOf,
  policyUpdate,
  portfolioUpdate,
  refund,
  settlement,
  signedCall,
} from './authorizations.js'
import type { TestChain } from './chain.js'
import { AAPL, ORG, openBuy, openRequest, setUpInstitution, shares, usd } from './institution.js'

export { PRIMARY_TYPES } from '../../src/protocol/authorizationTypes.js'

/** An authorization of each type, which takes effect on the chain as it is set up: the institution is there, alice has a buy open and bob a request, and 9 AAPL are in the pool. */
export async function setUpOneOfEach(chain: TestChain) {
  await setUpInstitution(chain)
  const buy = await orderOf(chain, await openBuy(chain, 'alice', 'buy', usd(10)))
  const request = await orderOf(chain, await openRequest(chain, 'bob', 'sale'))
  await chain.send('relayer', ...signedCall(chain, batchMint(AAPL, shares(9))))
  const batch = { expectedSupply: shares(9), batch: 2n }
  const authorizations: Record<PrimaryType, Authorization> = {
    PortfolioUpdate: portfolioUpdate(request),
    PolicyUpdate: policyUpdate(ORG, chain.account('admin')),
    OrderSettlement: settlement(buy, { payoutAsset: AAPL, payout: shares(1) }),
    OrderRefund: refund(buy),
    BatchMint: batchMint(AAPL, shares(4), batch),
    BatchBurn: batchBurn(AAPL, shares(4), batch),
  }
  return { of: (primaryType: PrimaryType) => authorizations[primaryType] }
}

export type OneOfEach = Awaited<ReturnType<typeof setUpOneOfEach>>
