// Step 6: an order that is in the portfolio, and so may be, or have been, at the broker.
import { type BrokerClock, BrokerError, type OrderRequest } from '../../broker/index.js'
import { clientOrderIdOf } from '../../protocol/identifiers.js'
import type { RunResult } from '../../protocol/job.js'
import { freeShares, type OpenOrder } from '../../protocol/portfolio.js'
import { toCents } from '../../protocol/units.js'
import { min, withOrder, withoutOrder } from '../books.js'
import { ConflictError, codeOf, RunFailure } from '../failures.js'
import type { NoticeCode } from '../notices.js'
import type { Limits, Run } from '../run.js'
import { type AccountState, writePortfolio } from './accountState.js'
import { isClosedUntil, refusedByAsset, refusedByChain, saleOf } from './admission.js'
import { findOrder } from './brokerOrder.js'
import { conclude } from './conclude.js'
import { awaitWriteAhead, readEscrow } from './depth.js'
import { readChainFacts, readPrice } from './facts.js'
import { place } from './place.js'
import { leaveNotice, refundHeld } from './refund.js'
import { retryDeeper, retryQueued } from './retry.js'
import type { OrderTerms } from './terms.js'

/**
 * In `brokerOrderId`: it has been decided that the order is never placed. The decision is on chain before the refund
 * is signed, so that no later run can place the order while that refund is still on its way.
 */
const NEVER_PLACED = 'never-placed'

/** The platform's limits bind when an order is admitted, and not again: a whole balance may have grown since. */
const ADMITTED: Limits = { order: 0n, withdrawal: 0n }

/** An order on its way to the broker. */
export interface Held {
  state: AccountState
  terms: OrderTerms
  entry: OpenOrder
}

/** What to do with an order that the broker does not know. */
type Decision =
  | { do: 'place'; request: OrderRequest }
  | { do: 'wait'; retryAt: number }
  | { do: 'refund'; code: NoticeCode }

/** Finds the order at the broker and concludes it; places it, or refunds it, when it is not there. */
export async function pursue(run: Run, held: Held): Promise<RunResult> {
  const { state, terms, entry } = held
  let clock: BrokerClock | undefined
  try {
    const found = await findOrder(run, terms.orderId, entry)
    if (found) return await conclude(run, state, terms, found)
    clock = await run.broker.getClock()
    const decision = await decide(run, held, clock)
    if (decision.do === 'wait') return { outcome: 'queued', retryAt: decision.retryAt }
    if (decision.do === 'refund') return await giveUp(run, held, decision.code)
    if (!(await awaitWriteAhead(run, held))) {
      return { outcome: 'queued', retryAt: retryDeeper(run.clock.seconds()) }
    }
    return await conclude(run, state, terms, await place(run, held, decision.request))
  } catch (error) {
    // What the broker does not do now is the platform's business, not the employee's: it waits.
    if (!isBrokersFault(error)) throw error
    const retryAt = retryQueued(run.clock.seconds(), entry.placedAt, clock)
    return { outcome: 'queued', retryAt, code: codeOf(error) }
  }
}

/** Asks again whether the order may be placed, its own lock and reservation counting as free. */
async function decide(run: Run, { state, terms, entry }: Held, clock: BrokerClock): Promise<Decision> {
  const without = withoutOrder(state.portfolio, terms.orderId)
  const look = await run.chain.look()
  const [escrow] = await readEscrow(run, terms.orderId, look)
  // A refund that was signed before the write-ahead may have come first; from the write-ahead on it is void.
  if (escrow.state !== 'OPEN') throw new ConflictError('the escrow is closed')
  const refused = refusedByChain(terms, await readChainFacts(run, terms, without, look), without, ADMITTED)
  if (refused) return { do: 'refund', code: refused }
  if (isClosedUntil(terms.deadline, clock)) return { do: 'refund', code: 'closed-until-deadline' }
  if (entry.brokerOrderId === NEVER_PLACED) return { do: 'refund', code: 'not-placed' }
  if (!clock.isOpen) return { do: 'wait', retryAt: Math.ceil(clock.nextOpen.getTime() / 1_000) }
  return request(run, terms, entry, freeShares(without, terms.symbol))
}

async function request(run: Run, terms: OrderTerms, entry: OpenOrder, free: bigint): Promise<Decision> {
  const { symbol, amount, orderId } = terms
  const clientOrderId = clientOrderIdOf(orderId)
  if (terms.side === 'BUY') {
    const refused = refusedByAsset(await run.broker.getAsset(symbol))
    if (refused) return { do: 'refund', code: refused }
    const notional = toCents(amount, 'down')
    return { do: 'place', request: { symbol, side: 'buy', notional, clientOrderId } }
  }
  const available = min(entry.locked, free)
  const { qty, refused } = saleOf(amount, await readPrice(run, symbol), {
    available,
    whole: available,
    least: 0n,
  })
  if (refused) return { do: 'refund', code: refused }
  return { do: 'place', request: { symbol, side: 'sell', qty, clientOrderId } }
}

/**
 * Ends an order that is not at the broker. First the chain says that it is never placed, at the stated depth: a
 * reorganization that took mark and refund back would let a later run place the order, and the pool would refund it
 * again. No run that looks from then on sends it. Then the time passes that a run which looked before may need for its
 * call. Only then it is sure that what is absent stays absent.
 */
async function giveUp(run: Run, held: Held, code: NoticeCode): Promise<RunResult> {
  const { terms, entry } = held
  const { absentAgainMs } = run.timings
  if (!run.clock.allows(absentAgainMs)) return queueAgain(run, entry)
  const { userPubKey } = held.state.portfolio
  await leaveNotice(run, terms.orderId, { code, userPubKey })
  const decided = entry.brokerOrderId === NEVER_PLACED ? held : await neverPlace(run, held)
  if (!(await awaitWriteAhead(run, decided))) {
    return { outcome: 'queued', retryAt: retryDeeper(run.clock.seconds()) }
  }
  await run.clock.sleep(absentAgainMs)
  const found = await findOrder(run, terms.orderId, entry)
  if (found) return conclude(run, decided.state, terms, found)
  return refundHeld(run, decided.state, terms, code)
}

/** Too little time is left to be sure: the next run begins with all of its own. */
function queueAgain(run: Run, { placedAt }: OpenOrder): RunResult {
  return { outcome: 'queued', retryAt: retryQueued(run.clock.seconds(), placedAt) }
}

async function neverPlace(run: Run, { state, terms, entry }: Held): Promise<Held> {
  const marked = { ...entry, brokerOrderId: NEVER_PLACED }
  const portfolio = withOrder(withoutOrder(state.portfolio, terms.orderId), terms.orderId, marked)
  return {
    terms,
    entry: marked,
    state: await writePortfolio(run, state, portfolio, { terms, required: 'OPEN' }),
  }
}

function isBrokersFault(error: unknown): boolean {
  return error instanceof BrokerError || (error instanceof RunFailure && error.code === 'broker-unavailable')
}
