// The order at the broker: found, followed, cancelled, and placed. Placing is the one act that neither the chain nor the enclave can
// take back.
import {
  BrokerError,
  type BrokerOrder,
  isPossibleDuplicate,
  type OrderRequest,
  type Placement,
  stopwatch,
} from '../../broker/index.js'
import type { Hex } from '../../protocol/hex.js'
import { accountIdOf, clientOrderIdOf, orderPrefixOf } from '../../protocol/identifiers.js'
import type { OpenOrder } from '../../protocol/portfolio.js'
import { ConflictError, PostponedError, RunFailure } from '../failures.js'
import { notionalAtBroker, overrunOf } from '../money.js'
import { aheadWords, noticeOf } from '../notices.js'
import { MAX_LOOK_AGE_MS, type Run } from '../run.js'
import {
  type AccountState,
  type Ended,
  fromBroker,
  type Live,
  type NeverPlaced,
  type OrderTerms,
  type WrittenAhead,
} from './life.js'
import { isWithin, limitPast, limitPastUnknown } from './passing.js'
import { actionsSince, carriedShares, isRenewable, mayHaveFollower, type Placed } from './placements.js'
import { isWrittenDeep, readEscrow } from './read.js'
import { retryOpposed } from './retry.js'

/** How often a run sends an order whose answer was lost, before a later run goes on asking. */
const MAX_SENDS = 5

/** A run that would wait longer for its turn at the broker leaves the order to a later run. */
const TURN_WAIT_MS = 10_000

/** How far the clocks of broker, chain and enclave may be apart, in seconds. */
export const CLOCK_SKEW_S = 60

/**
 * How much older than its write-ahead an order at the broker may be, in seconds: a reorganization takes a write-ahead
 * back after its order was placed, and the next run writes it again.
 */
export const REORGANIZATION_S = 3_600

/** In a result's `code`: a buy cost more than its amount, within the tolerance. The platform bears the difference. */
export const COST_OVER_NOTIONAL = 'cost-over-notional'

/**
 * Step 6, the look-up: the broker's order of an order in the portfolio. One that may still be sent is not asked for where this process knows
 * of none: the send shows one that another process has sent, or that an entry had which a reorganization took back, as the broker takes an
 * id once. One that is never sent again is asked for.
 * @throws RunFailure `broker-mismatch` when there is one under its id that is not this order
 */
export async function findOrder(
  run: Run,
  order: WrittenAhead | NeverPlaced,
): Promise<Live | Ended | WrittenAhead | NeverPlaced> {
  const { placedAt } = order.entry
  const unsentSince = order.is === 'writtenAhead' ? new Date((placedAt - CLOCK_SKEW_S) * 1_000) : undefined
  const find = (since?: Date) => findByEntry(run, order.terms.orderId, order.entry, since)
  const isAtEnd = (placed: Placed) => !isRenewable(order.entry, placed)
  let placed = await find(unsentSince)
  // An order never ends by a list: another process may have placed its rest since.
  if (placed && isAtEnd(placed) && mayHaveFollower(placed.order)) placed = await find()
  if (placed === null) return order
  if (isAtEnd(placed)) return fromBroker(order, placed)
  return { ...order, earlier: [...placed.earlier, placed.order] }
}

/** The placements of an entry's order; null where the broker has none. @throws RunFailure `broker-mismatch` */
export async function findByEntry(
  run: Run,
  orderId: Hex,
  entry: OpenOrder,
  unsentSince?: Date,
): Promise<Placed | null> {
  const earlier: BrokerOrder[] = []
  let order = await run.broker.readOrder(clientOrderIdOf(orderId), unsentSince)
  if (order === null) return null
  for (;;) {
    await assertOurs(run, order, entry)
    if (!mayHaveFollower(order)) return { order, earlier }
    // The next one was placed after the end of this one.
    const since = unsentSince && (order.endedAt ?? unsentSince)
    const next = await run.broker.readOrder(clientOrderIdOf(orderId, earlier.length + 1), since)
    if (next === null) return { order, earlier }
    earlier.push(order)
    order = next
  }
}

/**
 * Makes sure that the broker has no order under this id, which is not in the portfolio. A reorganization may have taken
 * the write-ahead back, or replaced the escrow by another one under the same id: then no refund is signed, a live order is
 * cancelled, and a person has to look.
 * @throws RunFailure `broker-mismatch`
 */
export async function assertNothingAtBroker(run: Run, orderId: Hex): Promise<void> {
  const found = await run.broker.getOrderByClientOrderId(clientOrderIdOf(orderId))
  if (found) await disown(run, found)
}

/** Whether the broker has an order that the chain does not know. A later run learns what it cannot say now. */
export async function isAtBroker(run: Run, orderId: Hex): Promise<boolean> {
  try {
    return (await run.broker.getOrderByClientOrderId(clientOrderIdOf(orderId))) !== null
  } catch (error) {
    if (error instanceof BrokerError) return false
    throw error
  }
}

/**
 * Follows a live order for `fillWaitMs`, because most market orders fill immediately. Returns it as it was last seen, also when the
 * broker does not say.
 * @throws BrokerError when the broker's answer cannot be read
 */
export async function follow(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  const { fillWaitMs } = run.timings
  const until = run.clock.now() + fillWaitMs
  let latest = order
  while (latest.state === 'live') {
    const left = until - run.clock.now()
    if (left <= 0 || !run.clock.allows(left)) return latest
    const before = latest
    latest = await unlessSilent(before, () => run.broker.follow(before, left))
    if (latest === before) return latest
  }
  return latest
}

/** Follows a live order for a while, or cancels it. It stays live if the broker does not take the cancellation now. */
export async function followOrCancel(run: Run, known: Live | Ended, mustEnd: boolean): Promise<Live | Ended> {
  if (known.is === 'ended') return known
  const { order, earlier } = known
  try {
    if (mustEnd) return fromBroker(known, { order: await cancel(run, order), earlier })
    // A limit order may rest for days: only the run that placed it waits for its fill.
    const isResting = run.turns.isResting(known.terms.orderId)
    return isResting ? known : fromBroker(known, { order: await follow(run, order), earlier })
  } catch (error) {
    if (error instanceof BrokerError && mustEnd) return known
    throw error
  }
}

/** Asks for an order to be cancelled and reads whether it has come to its end, which may be a fill after all. */
export async function cancel(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  await run.broker.cancelOrder(order.id)
  return follow(run, await readAgain(run, order))
}

/**
 * The order as it is now, or as it was last seen when the broker does not say.
 * @throws BrokerError when the broker's answer cannot be read
 */
function readAgain(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  const { getOrderByClientOrderId } = run.broker
  return unlessSilent(order, async () => (await getOrderByClientOrderId(order.clientOrderId)) ?? order)
}

async function unlessSilent(order: BrokerOrder, ask: () => Promise<BrokerOrder>): Promise<BrokerOrder> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof BrokerError && error.reason !== 'unreadable') return order
    throw error
  }
}

/**
 * Places an order. After a lost answer it is sent again under the same id, which the broker takes once.
 * @throws BrokerError when the broker refused it, or when its answer stays unknown; ConflictError when it may not be
 *   sent any more; PostponedError `broker-turn` when its turn is too far away
 */
export async function place(run: Run, order: WrittenAhead, request: OrderRequest): Promise<BrokerOrder> {
  let asked = request
  for (let sends = 1; ; sends++) {
    try {
      return await assertOurs(run, await sendOnce(run, order, asked), order.entry)
    } catch (error) {
      if (isPossibleDuplicate(error)) {
        const existing = await run.broker.getOrderByClientOrderId(request.clientOrderId)
        if (existing !== null) return assertOurs(run, existing, order.entry)
        run.turns.ended(order.terms.orderId)
        throw error
      }
      const limitPrice = await limitPastUnknown(run, asked, error)
      if (limitPrice !== undefined && sends < MAX_SENDS) {
        asked = { ...asked, limitPrice }
        continue
      }
      if (error instanceof BrokerError && error.isOpposed) {
        run.turns.refused(order.terms)
        throw await opposed(run, order)
      }
      const isAmbiguous = error instanceof BrokerError && error.kind === 'ambiguous'
      if (!isAmbiguous || sends === MAX_SENDS) throw error
      if (!run.clock.allows(run.timings.ambiguousAgainMs)) throw error
      await run.clock.sleep(run.timings.ambiguousAgainMs)
    }
  }
}

/** One send: its turn at the broker, the look at the chain, the check, the bytes. Everything that may wait comes before the look. */
async function sendOnce(run: Run, order: WrittenAhead, request: OrderRequest): Promise<BrokerOrder> {
  const { terms, placement: kept } = order
  await awaitTurn(run, order)
  const limitPrice = limitPast(request.side, request.limitPrice, run.turns.restingAgainst(terms))
  const placement = kept?.isReserved() ? kept : await reserve(run, order)
  try {
    const check = await lookBeforeSend(run, order)
    const beforeSend = () => {
      check()
      run.turns.sent(terms.orderId)
    }
    return await placement.send({ ...request, limitPrice }, { beforeSend })
  } catch (error) {
    const isAnswered = !(error instanceof BrokerError) || (error.kind !== 'ambiguous' && !error.isOpposed)
    if (isAnswered && !isPossibleDuplicate(error)) run.turns.ended(terms.orderId)
    throw error
  } finally {
    placement.release()
  }
}

/**
 * Waits until no opposite order of the symbol is open at the broker, which would refuse this one. Nothing of the broker's rate is kept
 * for it meanwhile.
 * @throws PostponedError `broker-turn`
 */
async function awaitTurn(run: Run, waiting: Waiting & Pick<WrittenAhead, 'placement'>): Promise<void> {
  const { clock, turns } = run
  const hasEntered = await turns.enter(waiting.terms, async () => {
    waiting.placement?.release()
    if (clock.allows(TURN_WAIT_MS)) await clock.sleep(TURN_WAIT_MS)
  })
  if (!hasEntered) throw await opposed(run, waiting)
}

async function opposed(run: Run, { state, terms }: Waiting): Promise<PostponedError> {
  const { clock, turns } = run
  const { orderId } = terms
  const now = clock.seconds()
  const until = retryOpposed(now, state.portfolio.openOrders[orderId]?.placedAt ?? now)
  turns.comesAgain(orderId, until * 1_000)
  const notice = await noticeOf(orderId, 'waits-for-opposite', state.portfolio.userPubKey)
  return new PostponedError('broker-turn', until, notice)
}

/** An order that waits for its turn, and its account's portfolio. */
interface Waiting {
  state: AccountState
  terms: OrderTerms
}

/**
 * Reserves an order's turn at the broker before everything else that placing needs: an order that has to wait has then cost neither
 * gas nor a request. Undefined while the market is closed.
 * @throws PostponedError `broker-turn`, or `broker-rate-limit` for an order that is not written ahead
 */
export async function reserveAhead(
  run: Run,
  waiting: Waiting | WrittenAhead,
): Promise<Placement | undefined> {
  const { isOpen } = await run.broker.getClock()
  if (!isOpen) return undefined
  if ('entry' in waiting) await awaitTurn(run, waiting)
  return reserve(run, waiting)
}

async function reserve({ broker, openedAt }: Run, { state, terms }: Waiting): Promise<Placement> {
  const { orderId } = terms
  const turn = { orderId, openedAt }
  const placement = await broker.reserve({ ...turn, withinMs: TURN_WAIT_MS })
  if (placement) return placement
  const { until, ahead } = broker.defer(turn)
  const notice = await noticeOf(orderId, 'waits-for-rate', state.portfolio.userPubKey, aheadWords(ahead))
  const isWritten = state.portfolio.openOrders[orderId] !== undefined
  throw new PostponedError(
    isWritten ? 'broker-turn' : 'broker-rate-limit',
    Math.ceil(until.getTime() / 1_000),
    notice,
  )
}

/**
 * Asks the chain, by requests that it shares with no other run, whether the order is still to be placed: another run of the
 * account, unknown to this one, may have ended it since.
 * @returns a check for right before the send; it throws when the look has become too old, or at `stopAt`
 * @throws ConflictError unless portfolio, escrow and deadline are as they were when it was decided to place the order
 */
async function lookBeforeSend(run: Run, order: WrittenAhead): Promise<() => void> {
  const { clock } = run
  const { alone } = run.chain
  const { state, terms } = order
  const age = stopwatch(clock.now)
  const look = await alone.look()
  const { head } = look
  const [hash, [escrow, deep], pausedUntil, isWritten] = await Promise.all([
    alone.ledger.portfolioHash(accountIdOf(state.account), head.hash),
    readEscrow(alone, terms.orderId, look),
    alone.pausedUntil(head),
    isWrittenDeep(run, order, look),
  ])
  if (pausedUntil !== 0) throw new PostponedError('paused', pausedUntil)
  const isOpen = [escrow, deep].every(
    ({ state, amount, shares, commit }) =>
      // Nothing that escrows shares is placed.
      state === 'OPEN' && amount === terms.escrowed && shares === 0n && commit === terms.commit,
  )
  const unchanged = hash === state.hash && isOpen && isWritten && head.timestamp < terms.deadline
  if (!unchanged) throw new ConflictError('the order may not be placed any more')
  return () => {
    if (age() > MAX_LOOK_AGE_MS) throw new RunFailure('chain-unavailable')
    clock.check()
  }
}

/**
 * An order under our id that is not ours must never be settled as ours. It is ours when it is for what the entry says,
 * and no older than this deployment and than the entry: ids come again when the contracts are deployed anew with the
 * same account at the broker.
 * @throws RunFailure `broker-mismatch`
 */
async function assertOurs(run: Run, order: BrokerOrder, entry: OpenOrder): Promise<BrokerOrder> {
  const isOurs =
    (await isFor(run, order, entry)) && isYoungEnough(order, entry) && !(await isOlderThanEscrow(run, order))
  if (!isOurs) await disown(run, order)
  return order
}

async function isFor({ chain }: Run, order: BrokerOrder, entry: OpenOrder): Promise<boolean> {
  const { symbol, side, notional, qty, limitPrice, clientOrderId } = order
  // It may have been sent with a better limit, to pass the platform's resting orders.
  if (entry.limit && !isWithin(side, entry.limit.price, limitPrice)) return false
  // The entry follows corporate actions, up to one of these; the broker's order stays as it was sent.
  const since = actionsSince(order.createdAt, await chain.actions((await chain.look()).head))
  const isOfEntry = [...since.keys(), since.length].some((count) => {
    const now = carriedShares({ symbol, qty: qty ?? 0n }, since.slice(0, count))
    return now.symbol === entry.symbol && (entry.side !== 'SELL' || now.qty <= entry.locked)
  })
  if (!isOfEntry) return false
  if (entry.side === 'SELL') return side === 'sell' && qty !== null
  if (side !== 'buy' || notional === null) return false
  const whole = notionalAtBroker(entry.notional)
  return entry.limit || isRenewal(clientOrderId) ? notional <= whole : notional === whole
}

function isRenewal(clientOrderId: string): boolean {
  return orderPrefixOf(clientOrderId) !== clientOrderId
}

function isYoungEnough({ createdAt }: BrokerOrder, { placedAt }: OpenOrder): boolean {
  return createdAt.getTime() / 1_000 >= placedAt - CLOCK_SKEW_S - REORGANIZATION_S
}

async function isOlderThanEscrow({ chain }: Run, { createdAt }: BrokerOrder): Promise<boolean> {
  return createdAt.getTime() / 1_000 < (await chain.deployedAt()) - CLOCK_SKEW_S
}

/** Cancels an order that may not be settled, unless it belongs to an earlier deployment. */
async function disown(run: Run, order: BrokerOrder): Promise<never> {
  if (order.state === 'live' && !(await isOlderThanEscrow(run, order))) {
    await run.broker.cancelOrder(order.id)
  }
  throw new RunFailure('broker-mismatch')
}

/**
 * Whether a buy cost more than its amount: then the platform bears the difference, and the result says so.
 * @throws RunFailure `broker-mismatch` when it is more than the stated tolerance
 */
export function costsMore({ side, notional }: OpenOrder, fill: BrokerOrder): boolean {
  if (side !== 'BUY') return false
  const overrun = overrunOf(notional, fill)
  if (overrun === 'beyond') throw new RunFailure('broker-mismatch')
  return overrun === 'tolerated'
}
