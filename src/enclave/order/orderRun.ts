// One run of one order. The order of its steps keeps the money right: see docs/enclave.md.

import { type BrokerClock, BrokerError, type BrokerOrder, type Placement } from '../../broker/index.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { commitOf, type Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import type { Intent } from '../../protocol/intent.js'
import type { RunResult } from '../../protocol/job.js'
import { FINAL_OUTCOMES } from '../../protocol/outcome.js'
import { emptyPortfolio } from '../../protocol/portfolio.js'
import { ConflictError, codeOf, PostponedError, RunFailure, restarting } from '../failures.js'
import { isHalted, unlessHalted } from '../halts.js'
import { withoutOrder } from '../money.js'
import type { NoticeCode } from '../notices.js'
import type { Run } from '../run.js'
import { judgeNew, judgeWrittenAhead } from './admission.js'
import {
  assertNothingAtBroker,
  findOrder,
  followOrCancel,
  isAtBroker,
  place,
  reserveAhead,
} from './atBroker.js'
import {
  decodeEntry,
  type Ended,
  filledOf,
  fromBroker,
  isStanding,
  type Live,
  type NeverPlaced,
  type New,
  termsOfEntry,
  termsOfEscrow,
  termsOfIntent,
  type WrittenAhead,
} from './life.js'
import { isHeldBack } from './passing.js'
import { isRenewable, wholeOf } from './placements.js'
import {
  awaitEscrow,
  awaitWriteAhead,
  isCancelled,
  judged,
  readChainFacts,
  readEnactedSince,
  readEscrow,
  type Seen,
  unseal,
} from './read.js'
import { type Finished, finishReclaimed, type Loss, worse } from './reclaimed.js'
import { deeperLater, retryClosed, retryPlaced, retryPostponed, retryQueued } from './retry.js'
import {
  type Admitted,
  deposit,
  postNotice,
  refundUnwritten,
  refundWrittenAhead,
  settle,
  withdraw,
  writeAhead,
  writeNeverPlaced,
} from './write.js'

interface OrderJob {
  orderId: Hex
  /** Needed until the order is written ahead. */
  envelope?: Envelope | undefined
  /** In each run from the moment that the server has one. */
  cancel?: Envelope | undefined
}

/** Kept when a run begins again after a conflict. */
interface Memory {
  /** The platform's losses by reclaimed orders. */
  loss: Loss | undefined
  /** Its turn at the broker, from before its write-ahead. */
  placement?: Placement | undefined
}

/** Brings an order as far as it can get, and begins again after a conflict. */
export async function runOrder(run: Run, job: OrderJob): Promise<RunResult> {
  const memory: Memory = { loss: undefined }
  const result = await unlessPostponed(run, () => restarting(() => attempt(run, job, memory)))
  if (FINAL_OUTCOMES.has(result.outcome)) run.turns.ended(job.orderId)
  // A loss is reported once. Any other failure shows again in the next run.
  const code = memory.loss ?? result.code ?? lastFailureCode(run, result)
  return code === undefined ? result : { ...result, code }
}

/** An order that stays open says so when the broker failed it, also where the run could do without the answer. */
function lastFailureCode(run: Run, { outcome }: RunResult): string | undefined {
  const failure = run.broker.lastFailure()
  return failure === null || FINAL_OUTCOMES.has(outcome) ? undefined : codeOf(failure)
}

/**
 * An order waits while the platform is paused, or the relay has no gas for it. An order that cannot be written ahead is not
 * placed, and one that cannot be refunded stays in its escrow.
 */
async function unlessPostponed(run: Run, act: () => Promise<RunResult>): Promise<RunResult> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof PostponedError)) throw error
    const { code, notice } = error
    const retryAt = retryPostponed(run.clock.seconds(), error)
    return { outcome: 'queued', retryAt, code, ...(notice && { notice }) }
  }
}

/** Reads the escrow, which names the account. From here on no other run of that account works, so it is read again. */
async function attempt(run: Run, job: OrderJob, memory: Memory): Promise<RunResult> {
  const { orderId } = job
  const { escrow } = await awaitEscrow(run, orderId)
  if (escrow.state === 'NONE') throw new RunFailure(await codeOfUnknown(run, orderId))
  return run.accountLock.run(escrow.account, async () => {
    const seen = await awaitEscrow(run, orderId)
    if (seen.escrow.account !== escrow.account) throw new ConflictError('the order was opened anew')
    await run.authorizer.assertRelay()
    try {
      return await carryOut(run, job, seen, memory)
    } finally {
      memory.placement?.release()
      memory.placement = undefined
      run.turns.release(orderId)
    }
  })
}

/**
 * The server starts no run before it has seen the escrow, so the enclave's own node is behind. That is never an end, because
 * a reorganization may be opening the order anew. But if the broker has it, the platform may have traded for itself.
 */
async function codeOfUnknown(run: Run, orderId: Hex) {
  await run.authorizer.assertRelay()
  return (await isAtBroker(run, orderId)) ? 'broker-mismatch' : 'order-unknown'
}

/** The seven steps of docs/enclave.md. A step returns what the next one works on, or the result that ends the run. */
async function carryOut(
  run: Run,
  { orderId, envelope, cancel }: OrderJob,
  seen: Seen,
  memory: Memory,
): Promise<RunResult> {
  // 1. Read
  const read = await readOrder(run, orderId, seen, memory)
  if (isResult(read)) return read
  const cancelled = await isCancelled(run, orderId, seen, cancel)
  let order: WrittenAhead | NeverPlaced
  if (read.is === 'new') {
    // 2. Unseal
    const intent = await openEnvelope(run, read, { envelope, cancelled, look: seen.look })
    if (isResult(intent)) return intent
    // 3. Price, and 4. Admit
    const admitted = await admit(run, read, { intent, cancelled })
    if (isResult(admitted)) return admitted
    const { side } = admitted.terms
    if (side === 'WITHDRAW' || side === 'DEPOSIT') return moveAtOnce(run, admitted, side)
    // 5. Write ahead, once its turn at the broker has come
    memory.placement = await reserveAhead(run, admitted)
    order = await writeAhead(run, admitted)
  } else {
    order = read
  }
  let clock: BrokerClock | undefined
  try {
    // 6. Look up, and place it if it is not there
    const found = await findOrder(run, order)
    if (isStanding(found)) {
      memory.placement?.release()
      return await conclude(run, found, cancelled)
    }
    let known = found
    if (known.is === 'writtenAhead' && !cancelled) {
      memory.placement ??= await reserveAhead(run, known)
      known = { ...known, placement: memory.placement }
    }
    clock = cancelled ? undefined : await run.broker.getClock()
    const placed = await (clock ? placeOrGiveUp(run, known, clock) : giveUp(run, known, 'cancelled'))
    // 7. Conclude
    return isResult(placed) ? placed : await conclude(run, placed, cancelled)
  } catch (error) {
    if (!isBrokersFault(error)) throw error
    // A failing broker is the platform's problem, not the employee's: the order waits.
    const retryAt = retryQueued(run.clock.seconds(), order.entry.placedAt, clock)
    return { outcome: 'queued', retryAt, code: codeOf(error) }
  }
}

function isResult(step: object): step is RunResult {
  return 'outcome' in step
}

function isBrokersFault(error: unknown): boolean {
  return error instanceof BrokerError || (error instanceof RunFailure && error.code === 'broker-unavailable')
}

/** Step 1: the order as the portfolio has it, once every reclaimed order of the account has taken its effect. */
async function readOrder(
  run: Run,
  orderId: Hex,
  { look, escrow, isDeep }: Seen,
  memory: Memory,
): Promise<New | WrittenAhead | NeverPlaced | RunResult> {
  const { account } = escrow
  let stored = await run.portfolios.load(account, look.head)
  if (stored.portfolio) {
    const finished = await finishReclaimed(run, { account, ...stored, portfolio: stored.portfolio }, look)
    memory.loss = worse(memory.loss, finished.loss)
    if (finished.ended.has(orderId)) return endedResult(run, finished, escrow, orderId)
    const { state } = finished
    const entry = state.portfolio.openOrders[orderId]
    if (entry) {
      // Ended at the head alone: it is over once that block lies deep enough, and the run leaves it alone until then.
      if (escrow.state !== 'OPEN' || !isDeep) return deeperLater(run)
      return decodeEntry({ state, terms: termsOfEntry(orderId, entry, escrow), entry })
    }
    stored = state
  }
  if (escrow.state !== 'OPEN') return { outcome: 'done' }
  // The code keeps the account's later orders behind it: written ahead first, they would have it refused.
  return isDeep ? { is: 'new', orderId, escrow, stored } : { ...deeperLater(run), code: 'chain-depth' }
}

function endedResult(run: Run, { ended }: Finished, { deadline }: EscrowedOrder, orderId: Hex): RunResult {
  const end = ended.get(orderId)
  if (end?.kind !== 'unfinished') return { outcome: 'done' }
  const { code } = end
  const retryAt = retryPlaced(run.clock.seconds(), deadline, deadline)
  return { outcome: 'placed', retryAt, ...(code && { code }) }
}

/** Step 2: the intent. An order without one that can be trusted is refunded without a notice. */
async function openEnvelope(
  run: Run,
  order: New,
  { envelope, cancelled, look }: Pick<OrderJob, 'envelope'> & Pick<Seen, 'look'> & { cancelled: boolean },
): Promise<Intent | RunResult> {
  const { orderId, escrow, stored } = order
  const isItsOwn = envelope !== undefined && commitOf(envelope) === escrow.commit
  const intent = isItsOwn ? await unseal(run, order, envelope, look) : null
  if (intent) return intent
  // An order that a reorganization has replaced may have been placed for the one that stood there before.
  await assertNothingAtBroker(run, orderId)
  // Only its account can have cancelled it, so its money need not wait for an envelope that may be lost.
  if (!isItsOwn && !cancelled) return { outcome: 'rejected' }
  return refundUnwritten(run, termsOfEscrow(orderId, escrow), stored)
}

/** Steps 3 and 4: lets a new order in, or refunds it with a notice. The price of a sale is read only once it decides. */
async function admit(
  run: Run,
  { escrow, stored }: New,
  { intent, cancelled }: { intent: Intent; cancelled: boolean },
): Promise<Admitted | RunResult> {
  const [{ nonce, userPubKey }, { portfolio }] = [intent, stored]
  const look = await run.chain.look()
  const actions = await run.chain.actions(look.head)
  const terms = termsOfIntent(intent, escrow, actions)
  const pausedUntil = await run.chain.pausedUntil(look.head)
  if (pausedUntil !== 0) throw new PostponedError('paused', pausedUntil)
  // The intent decides nothing about these reads: a fact left out would show the node why the order is refused.
  const facts = await readChainFacts(run, terms, portfolio, look)
  const enacted = await readEnactedSince(run, terms.orderId, look)
  const asked = { terms, intent, portfolio, limits: run.limits, enacted }
  const verdict = cancelled
    ? ({ refused: 'cancelled' } as const)
    : await unlessHalted(
        run,
        terms.symbol,
        await judged(run, terms.symbol, (market) => judgeNew(asked, facts, market)),
      )
  if ('refused' in verdict) {
    await assertNothingAtBroker(run, terms.orderId)
    return refundUnwritten(run, terms, stored, { code: verdict.refused, userPubKey })
  }
  // What does not exist yet has nothing to follow.
  const begun = portfolio ?? { ...emptyPortfolio(userPubKey), actions: stored.followed.count }
  const admitted = { ...begun, nonce, userPubKey }
  return { terms, lock: verdict.lock, state: { account: escrow.account, ...stored, portfolio: admitted } }
}

/**
 * A withdrawal or a deposit ends here: one settlement, and nothing at the broker. It may stand in the place of a trade that a
 * reorganization replaced after its fill.
 */
async function moveAtOnce(run: Run, admitted: Admitted, side: 'WITHDRAW' | 'DEPOSIT'): Promise<RunResult> {
  await assertNothingAtBroker(run, admitted.terms.orderId)
  return side === 'WITHDRAW' ? withdraw(run, admitted) : deposit(run, admitted)
}

/**
 * Step 6, for an order that is not at the broker, or a limit order whose day is over: asks again whether it may be placed, and places it
 * or gives it up.
 */
async function placeOrGiveUp(
  run: Run,
  order: WrittenAhead | NeverPlaced,
  clock: BrokerClock,
): Promise<Live | Ended | RunResult> {
  const { terms } = order
  const without = withoutOrder(order.state.portfolio, terms.orderId)
  const look = await run.chain.look()
  const [escrow] = await readEscrow(run.chain, terms.orderId, look)
  // A refund that was signed before the write-ahead may have come first; from the write-ahead on it is void.
  if (escrow.state !== 'OPEN') throw new ConflictError('the escrow is closed')
  const facts = await readChainFacts(run, terms, without, look)
  const actions = await run.chain.actions(look.head)
  const judge = (market: object) =>
    judgeWrittenAhead(order, without, { facts, actions }, { ...market, clock })
  const hasFills = filledOf(order) !== null
  const verdict = await unlessHalted(run, terms.symbol, await judged(run, terms.symbol, judge), hasFills)
  if ('refused' in verdict) return giveUp(run, order, verdict.refused)
  if ('isClosed' in verdict) {
    return { outcome: 'queued', retryAt: retryClosed(run.clock.seconds(), clock), code: 'market-closed' }
  }
  if (!(await awaitWriteAhead(run, order))) return deeperLater(run)
  const placed = await place(run, verdict.order, verdict.place)
  return fromBroker(order, { order: placed, earlier: order.earlier })
}

/**
 * Ends an order that is not at the broker, or that could be renewed: what was filled of it is settled. First the chain says that it is
 * never placed, at the stated depth: a reorganization that took mark and refund back would let a later run place the order, and the pool
 * would refund it again. No run that looks from then on sends it. Then the time passes that a run which looked before may need for its
 * call. Only then an absent order is sure to stay absent.
 */
async function giveUp(
  run: Run,
  order: WrittenAhead | NeverPlaced,
  code: NoticeCode,
): Promise<Live | Ended | RunResult> {
  const { terms, entry, state } = order
  const { absentAgainMs } = run.timings
  if (order.is === 'writtenAhead') order.placement?.release()
  // Too little time is left to be sure: the next run begins with all of its own.
  if (!run.clock.allows(absentAgainMs)) {
    return { outcome: 'queued', retryAt: retryQueued(run.clock.seconds(), entry.placedAt) }
  }
  if (filledOf(order) === null) {
    await postNotice(run, terms.orderId, { code, userPubKey: state.portfolio.userPubKey })
  }
  const marked = order.is === 'neverPlaced' ? order : await writeNeverPlaced(run, order)
  if (!(await awaitWriteAhead(run, marked))) return deeperLater(run)
  await run.clock.sleep(absentAgainMs)
  const found = await findOrder(run, marked)
  if (isStanding(found)) return found
  const filled = filledOf(found)
  return filled ? settle(run, filled, code) : refundWrittenAhead(run, marked, code)
}

/**
 * Step 7: settles a fill, refunds an order that ended without one, and leaves a live order to a later run. A live order is
 * cancelled first when its account asks for that, or its deadline has passed. The broker's final state decides.
 */
async function conclude(run: Run, known: Live | Ended, cancelled: boolean): Promise<RunResult> {
  const { deadline } = known.terms
  if (known.is === 'live') run.turns.found(known.terms, known.order.limitPrice)
  const isLate = (await run.chain.look()).head.timestamp >= deadline
  const mustEnd = isLate || cancelled
  const halted = !mustEnd && known.is === 'live' && (await isHalted(run, known.terms.symbol))
  const isPlacedAgain = known.is === 'live' && isHeldBack(run, known)
  const now = await followOrCancel(run, known, mustEnd || halted || isPlacedAgain)
  if (now.is === 'live') run.turns.rests(now.terms.orderId)
  else run.turns.ended(now.terms.orderId)
  const reason = halted ? 'corporate-action' : reasonOf(now.order, isLate && !cancelled)
  const mayFollow = now.is === 'ended' && isRenewable(now.entry, now)
  if (now.is === 'live' || (mayFollow && !mustEnd && !halted)) return placedLater(run, now)
  if (mayFollow) {
    // Another run may be renewing it, one without the cancellation or with an older look at the chain.
    const ended = await giveUp(run, decodeEntry(now, [...now.earlier, now.order]), reason)
    return isResult(ended) ? ended : placedLater(run, ended)
  }
  return wholeOf(now).filledQty > 0n ? settle(run, now, reason) : refundWrittenAhead(run, now, reason)
}

/** Leaves an order at the broker to a later run. */
function placedLater(run: Run, { terms, order }: Live | Ended): RunResult {
  const since = Math.floor(order.createdAt.getTime() / 1_000)
  return { outcome: 'placed', retryAt: retryPlaced(run.clock.seconds(), since, terms.deadline) }
}

function reasonOf({ state }: BrokerOrder, isLate: boolean): NoticeCode {
  if (state === 'rejected') return 'broker-rejected'
  if (isLate) return 'deadline-passed'
  return state === 'expired' ? 'expired-at-close' : 'cancelled'
}
