import { nameToBytes32 } from '../../protocol/identifiers.js'
import type { RunResult } from '../../protocol/job.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import { withCash, withoutShares } from '../books.js'
import type { BlockPoint } from '../chainState.js'
import { mintShortage } from '../reconcile.js'
import type { Run } from '../run.js'
import type { AccountState } from './accountState.js'
import { refundUnheld } from './refund.js'
import { boundTo, type OrderTerms, USDC } from './terms.js'

/**
 * Pays cash or shares out of the pool to the account's wallet, whatever the market's clock says. What the pool is short
 * of is minted first when the broker holds more than were minted so far.
 * @param admitted the account's state with the intent's nonce and key in its portfolio, not yet written
 */
export async function withdraw(run: Run, state: AccountState, terms: OrderTerms): Promise<RunResult> {
  const { account, portfolio } = state
  const { symbol, amount } = terms
  if (symbol !== USDC) await mintShortage(run, symbol, amount)
  const { head } = await run.chain.look()
  if ((await inPool(run, symbol, head)) < amount) {
    return refundUnheld(run, terms, state, { code: 'pool-short', userPubKey: portfolio.userPubKey })
  }
  const sealed = await run.portfolios.seal(account, without(portfolio, symbol, amount), state)
  await run.authorizer.submit({
    primaryType: 'OrderSettlement',
    message: { ...boundTo(terms), payoutAsset: nameToBytes32(symbol), payout: amount, ...sealed },
  })
  return { outcome: 'settled' }
}

async function inPool({ chain }: Run, symbol: string, { hash }: BlockPoint): Promise<bigint> {
  const pool = chain.addresses.platformPool
  if (symbol === USDC) return (await chain.usdc()).balanceOf(pool, hash)
  return chain.token.balanceOf(pool, nameToBytes32(symbol), hash)
}

function without(portfolio: Portfolio, symbol: string, amount: bigint): Portfolio {
  return symbol === USDC ? withCash(portfolio, -amount) : withoutShares(portfolio, symbol, amount)
}
