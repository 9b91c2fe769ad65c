import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import type { PrimaryType } from '../../src/protocol/primaryTypes.js'
import {
  approvalOf,
  batchBurn,
  batchMint,
  orderOf,
  policyUpdate,
  portfolioMove,
  portfolioUpdate,
  refund,
  settlement,
  signedCall,
} from './authorizations.js'
import type { TestChain } from './chain.js'
import {
  AAPL,
  DAY,
  ORG,
  openBuy,
  openRequest,
  setUpInstitution,
  shares,
  usd,
  ZERO_BYTES32,
} from './institution.js'
import type { Role } from './roles.js'

export { PRIMARY_TYPES } from '../../src/protocol/primaryTypes.js'

/** A public key, compressed: the generator of secp256k1. */
export const PUBLIC_KEY: Hex = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'

/** Has a move proposed, accepted and approved, and lets its delay pass. */
export async function approveMove(chain: TestChain, from: Role, to: Role, key = PUBLIC_KEY): Promise<void> {
  const [lost, own] = [chain.account(from), chain.account(to)]
  await chain.send('admin', 'registry', 'proposeMove', lost, own)
  await chain.send(to, 'registry', 'acceptMove', lost, key)
  await chain.send('owner', 'registry', 'approveMove', lost, own)
  await chain.provider.send('evm_increaseTime', [7 * DAY])
  await chain.provider.send('evm_mine', [])
}

/** An authorization of each type, which takes effect on the chain as it is set up: the institution is there, alice has a buy open and bob a request, a move of the admin's portfolio is due, and 9 AAPL are in the pool. */
export async function setUpOneOfEach(chain: TestChain) {
  await setUpInstitution(chain)
  await approveMove(chain, 'admin', 'carol')
  const buy = await orderOf(chain, await openBuy(chain, 'alice', 'buy', usd(10)))
  const request = await orderOf(chain, await openRequest(chain, 'bob', 'sale'))
  await chain.send('relayer', ...signedCall(chain, batchMint(AAPL, shares(9))))
  const lost = chain.account('admin')
  const batch = { expectedSupply: shares(9), batch: 2n }
  const authorizations: Record<PrimaryType, Authorization> = {
    PortfolioUpdate: portfolioUpdate(request),
    PortfolioMove: portfolioMove(
      { from: lost, to: chain.account('carol'), ...(await approvalOf(chain, lost)) },
      { version: 1n, previous: ZERO_BYTES32 },
    ),
    PolicyUpdate: policyUpdate(ORG, chain.account('admin')),
    OrderSettlement: settlement(buy, { payoutAsset: AAPL, payout: shares(1) }),
    OrderRefund: refund(buy),
    BatchMint: batchMint(AAPL, shares(4), batch),
    BatchBurn: batchBurn(AAPL, shares(4), batch),
  }
  return { of: (primaryType: PrimaryType) => authorizations[primaryType] }
}

export type OneOfEach = Awaited<ReturnType<typeof setUpOneOfEach>>
