// Step 7: what becomes of an order that the broker knows.
import { BrokerError, type BrokerOrder } from '../../broker/index.js'
import { ZERO_BYTES32 } from '../../protocol/hex.js'
import type { RunResult } from '../../protocol/job.js'
import { tradeOf, withFill } from '../books.js'
import { type NoticeCode, tradeWords } from '../notices.js'
import type { Run } from '../run.js'
import type { AccountState } from './accountState.js'
import { awaitFinal, COST_OVER_NOTIONAL, cancel, costsMore } from './brokerOrder.js'
import { leaveNotice, refundHeld } from './refund.js'
import { retryPlaced } from './retry.js'
import { boundTo, type OrderTerms } from './terms.js'

/**
 * Settles what was filled, refunds what ended without a fill, leaves what is live to a later run, and cancels it
 * first when its deadline has passed.
 */
export async function conclude(
  run: Run,
  state: AccountState,
  terms: OrderTerms,
  seen: BrokerOrder,
): Promise<RunResult> {
  const late = (await run.chain.look()).head.timestamp >= terms.deadline
  const order = late ? await cancelled(run, seen) : await awaitFinal(run, seen)
  if (order.state === 'live') {
    const since = Math.floor(order.createdAt.getTime() / 1_000)
    return { outcome: 'placed', retryAt: retryPlaced(run.clock.seconds(), since, terms.deadline) }
  }
  if (order.filledQty > 0n) return settle(run, state, terms, order)
  return refundHeld(run, state, terms, reasonOf(order, late))
}

/** Still live when the broker cannot be asked to cancel it just now. */
async function cancelled(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  if (order.state !== 'live') return order
  try {
    return await cancel(run, order)
  } catch (error) {
    if (error instanceof BrokerError) return order
    throw error
  }
}

/** The whole escrow goes to the pool; what a buy did not cost is credited to `cash`, so that the price does not show. */
async function settle(
  run: Run,
  state: AccountState,
  terms: OrderTerms,
  fill: BrokerOrder,
): Promise<RunResult> {
  const excess = costsMore({ side: terms.side, notional: terms.amount }, fill)
  const settled = withFill(state.portfolio, terms.orderId, fill, {
    credited: terms.escrowed,
    fees: run.fees,
  })
  const notice = await tell(run, state, terms, fill)
  const sealed = await run.portfolios.seal(state.account, settled, state)
  await run.authorizer.submit({
    primaryType: 'OrderSettlement',
    // A trade pays nothing out.
    message: { ...boundTo(terms), payoutAsset: ZERO_BYTES32, payout: 0n, ...sealed },
  })
  return { outcome: 'settled', ...notice, ...(excess && { code: COST_OVER_NOTIONAL }) }
}

/** Tells what a trade came to, fees included. Buys too: a notice of sales alone would tell the server which is one. */
async function tell(
  run: Run,
  { portfolio }: AccountState,
  { orderId, side, symbol }: OrderTerms,
  fill: BrokerOrder,
): Promise<Pick<RunResult, 'notice'>> {
  const entry = portfolio.openOrders[orderId]
  if (!entry || side === 'WITHDRAW') return {}
  const trade = { side, symbol, qty: fill.filledQty, ...tradeOf(entry, fill, run.fees) }
  const { userPubKey } = portfolio
  return leaveNotice(run, orderId, { code: 'filled', userPubKey, detail: tradeWords(trade, run.fees) })
}

function reasonOf({ state }: BrokerOrder, late: boolean): NoticeCode {
  if (state === 'rejected') return 'broker-rejected'
  if (late) return 'deadline-passed'
  return state === 'expired' ? 'expired-at-close' : 'cancelled'
}
