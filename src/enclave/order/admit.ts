import type { Intent } from '../../protocol/intent.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import { freeShares } from '../books.js'
import type { BlockPoint } from '../chainState.js'
import type { NoticeCode } from '../notices.js'
import type { Run } from '../run.js'
import { isClosedUntil, refusedByAsset, refusedByChain, saleOf } from './admission.js'
import { readChainFacts, readPrice } from './facts.js'
import type { Wanted } from './wanted.js'

/** Whether an order is let in, and the share base units that a sale locks. */
export interface Admission {
  refused: NoticeCode | null
  lock: bigint
}

/** Steps 3 and 4: whether a new intent may be carried out. */
export async function admit(
  run: Run,
  wanted: Wanted,
  intent: Intent,
  portfolio: Portfolio | null,
  block: BlockPoint,
): Promise<Admission> {
  const refused =
    refusedByIntent(wanted, intent, portfolio) ??
    refusedByChain(wanted, await readChainFacts(run, wanted, block), portfolio)
  if (refused) return { refused, lock: 0n }
  if (wanted.side === 'WITHDRAW') return { refused: null, lock: 0n }
  if (isClosedUntil(wanted.deadline, await run.broker.getClock())) {
    return { refused: 'closed-until-deadline', lock: 0n }
  }
  if (wanted.side === 'BUY') {
    return { refused: refusedByAsset(await run.broker.getAsset(wanted.symbol)), lock: 0n }
  }
  const free = portfolio ? freeShares(portfolio, wanted.symbol) : 0n
  const sale = saleOf(wanted.amount, await readPrice(run, wanted.symbol), free)
  return { refused: sale.refused, lock: sale.qty }
}

function refusedByIntent(
  { deadline }: Wanted,
  { nonce, expiry }: Intent,
  portfolio: Portfolio | null,
): NoticeCode | null {
  // Strictly above the stored one, which is 0 for an account without a portfolio.
  if (nonce <= (portfolio?.nonce ?? 0)) return 'nonce-not-fresh'
  return expiry === deadline ? null : 'deadline-mismatch'
}
