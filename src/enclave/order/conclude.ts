// Step 7: what becomes of an order that the broker knows.
import { BrokerError, type BrokerOrder } from '../../broker/index.js'
import { ZERO_BYTES32 } from '../../protocol/hex.js'
import type { RunResult } from '../../protocol/job.js'
import { withFill } from '../books.js'
import type { NoticeCode } from '../notices.js'
import type { Run } from '../run.js'
import type { AccountState } from './accountState.js'
import { awaitFinal, cancel } from './brokerOrder.js'
import { refundHeld } from './refund.js'
import { retryPlaced } from './retry.js'
import type { OrderTerms } from './terms.js'

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
  const late = (await run.chain.latest()).timestamp >= terms.deadline
  const order = late ? await cancelled(run, seen) : await awaitFinal(run, seen)
  if (order.state === 'live') {
    const since = Math.floor(order.createdAt.getTime() / 1_000)
    return { outcome: 'placed', retryAt: retryPlaced(run.clock.seconds(), since, terms.deadline) }
  }
  if (order.filledQty > 0n) return settle(run, state, terms, order)
  return refundHeld(run, state, terms.orderId, reasonOf(order, late))
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
  { account, portfolio, version }: AccountState,
  { orderId, escrowed }: OrderTerms,
  fill: BrokerOrder,
): Promise<RunResult> {
  const settled = withFill(portfolio, orderId, fill, { credited: escrowed, fees: run.fees })
  const sealed = await run.portfolios.seal(account, settled, version + 1n)
  await run.authorizer.submit({
    primaryType: 'OrderSettlement',
    // A trade pays nothing out.
    message: { orderId, payoutAsset: ZERO_BYTES32, payout: 0n, ...sealed },
  })
  return { outcome: 'settled' }
}

function reasonOf({ state }: BrokerOrder, late: boolean): NoticeCode {
  if (state === 'rejected') return 'broker-rejected'
  if (late) return 'deadline-passed'
  return state === 'expired' ? 'expired-at-close' : 'cancelled'
}
