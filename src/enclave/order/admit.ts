import type { Intent } from '../../protocol/intent.js'
import { freeShares, type Portfolio } from '../../protocol/portfolio.js'
import type { Look } from '../chainState.js'
import type { NoticeCode } from '../notices.js'
import type { Run } from '../run.js'
import { isClosedUntil, refusedByAsset, refusedByChain, refusedByWithdrawal, saleOf } from './admission.js'
import { readChainFacts, readPrice } from './facts.js'
import { type OrderTerms, USDC } from './terms.js'

/** Whether an order is let in, and the share base units that a sale locks. */
export interface Admission {
  refused: NoticeCode | null
  lock: bigint
}

/** Steps 3 and 4: whether a new intent may be carried out. */
export async function admit(
  run: Run,
  terms: OrderTerms,
  intent: Intent,
  portfolio: Portfolio | null,
  look: Look,
): Promise<Admission> {
  // Read whatever the intent says: what is not read would tell why the order is refused.
  const facts = await readChainFacts(run, terms, portfolio, look)
  const refused =
    refusedByIntent(terms, intent, portfolio) ?? refusedByChain(terms, facts, portfolio, run.limits)
  if (refused) return { refused, lock: 0n }
  if (terms.side === 'WITHDRAW') return { refused: await refusedWithdrawal(run, terms, portfolio), lock: 0n }
  if (isClosedUntil(terms.deadline, await run.broker.getClock())) {
    return { refused: 'closed-until-deadline', lock: 0n }
  }
  if (terms.side === 'BUY') {
    return { refused: refusedByAsset(await run.broker.getAsset(terms.symbol)), lock: 0n }
  }
  const { qty: whole = 0n } = portfolio?.positions[terms.symbol] ?? {}
  const available = portfolio ? freeShares(portfolio, terms.symbol) : 0n
  const price = await readPrice(run, terms.symbol)
  const sale = saleOf(terms.amount, price, { available, whole, least: run.limits.order })
  return { refused: sale.refused, lock: sale.qty }
}

/** A withdrawal of a whole position needs no price. */
async function refusedWithdrawal(
  run: Run,
  { symbol, amount }: OrderTerms,
  portfolio: Portfolio | null,
): Promise<NoticeCode | null> {
  if (symbol === USDC) return null
  const { qty: whole = 0n } = portfolio?.positions[symbol] ?? {}
  if (amount === whole) return null
  return refusedByWithdrawal(amount, await readPrice(run, symbol), whole, run.limits)
}

function refusedByIntent(
  { deadline }: OrderTerms,
  { nonce, expiry }: Intent,
  portfolio: Portfolio | null,
): NoticeCode | null {
  // Strictly above the stored one, which is 0 for an account without a portfolio.
  if (nonce <= (portfolio?.nonce ?? 0)) return 'nonce-not-fresh'
  return expiry === deadline ? null : 'deadline-mismatch'
}
