import { nameToBytes32 } from '../../protocol/identifiers.js'
import type { RunResult } from '../../protocol/job.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import { withCash, withoutShares } from '../books.js'
import { reconcileSymbol } from '../reconcile.js'
import type { Run } from '../run.js'
import type { AccountState } from './accountState.js'
import { refundUnheld } from './refund.js'
import { type OrderTerms, USDC } from './terms.js'

/**
 * Pays cash or shares out of the pool to the account's wallet, whatever the market's clock says. Shares are minted
 * first when the broker holds more than were minted so far.
 * @param admitted the account's state with the intent's nonce and key in its portfolio, not yet written
 */
export async function withdraw(
  run: Run,
  { account, portfolio, version }: AccountState,
  { orderId, symbol, amount }: OrderTerms,
): Promise<RunResult> {
  if (symbol !== USDC) await reconcileSymbol(run, symbol)
  if ((await inPool(run, symbol)) < amount) {
    return refundUnheld(run, orderId, version, { code: 'pool-short', userPubKey: portfolio.userPubKey })
  }
  const sealed = await run.portfolios.seal(account, without(portfolio, symbol, amount), version + 1n)
  await run.authorizer.submit({
    primaryType: 'OrderSettlement',
    message: { orderId, payoutAsset: nameToBytes32(symbol), payout: amount, ...sealed },
  })
  return { outcome: 'settled' }
}

async function inPool({ chain }: Run, symbol: string): Promise<bigint> {
  const pool = chain.addresses.platformPool
  if (symbol === USDC) return (await chain.usdc()).balanceOf(pool)
  return chain.token.balanceOf(pool, nameToBytes32(symbol))
}

function without(portfolio: Portfolio, symbol: string, amount: bigint): Portfolio {
  return symbol === USDC ? withCash(portfolio, -amount) : withoutShares(portfolio, symbol, amount)
}
