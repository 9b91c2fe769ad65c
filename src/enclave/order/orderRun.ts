// One run of one order. The order of its steps keeps the money right: see docs/enclave.md.
import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import { commitOf, type Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import type { Intent } from '../../protocol/intent.js'
import { FINAL_OUTCOMES, type RunResult } from '../../protocol/job.js'
import { emptyPortfolio } from '../../protocol/portfolio.js'
import type { Look } from '../chainState.js'
import { codeOf, PostponedError, restarting } from '../failures.js'
import type { StoredPortfolio } from '../portfolioStore.js'
import type { Run } from '../run.js'
import type { AccountState } from './accountState.js'
import { admit } from './admit.js'
import { assertNothingAtBroker } from './brokerOrder.js'
import { awaitDepth } from './depth.js'
import { type Finished, finishEnded, type Loss, worse } from './ended.js'
import { pursue } from './held.js'
import { refundUnheld } from './refund.js'
import { retryDeeper, retryPlaced, retryPostponed } from './retry.js'
import { termsOfEntry, termsOfEscrow, termsOfIntent } from './terms.js'
import { unseal } from './unseal.js'
import { withdraw } from './withdrawal.js'
import { writeAhead } from './writeAhead.js'

export interface OrderJob {
  orderId: Hex
  /** Needed until the order is written ahead. */
  envelope?: Envelope | undefined
}

/** What one run remembers when it begins again. */
interface Memory {
  /** What the platform lost by orders that were reclaimed. */
  loss: Loss | undefined
}

/** Brings an order as far as it can get, and begins again when something else was first. */
export async function runOrder(run: Run, job: OrderJob): Promise<RunResult> {
  const memory: Memory = { loss: undefined }
  const result = await unlessPostponed(run, () => restarting(() => attempt(run, job, memory)))
  // A loss is said once: whatever else the run met comes again.
  const code = memory.loss ?? result.code ?? failureMeanwhile(run, result)
  return code === undefined ? result : { ...result, code }
}

/** An order that stays open says so when the broker failed it, also where the run could do without the answer. */
function failureMeanwhile(run: Run, { outcome }: RunResult): string | undefined {
  const failure = run.broker.lastFailure()
  return failure === null || FINAL_OUTCOMES.has(outcome) ? undefined : codeOf(failure)
}

/**
 * An order waits while the platform is paused, or the relay has no gas for it: what cannot be written ahead is not placed,
 * and what cannot be refunded stays in its escrow.
 */
async function unlessPostponed(run: Run, act: () => Promise<RunResult>): Promise<RunResult> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof PostponedError)) throw error
    return { outcome: 'queued', retryAt: retryPostponed(run.clock.seconds(), error), code: error.code }
  }
}

async function attempt(run: Run, job: OrderJob, memory: Memory): Promise<RunResult> {
  const { orderId } = job
  const { look, escrow, isDeep } = await awaitDepth(run, orderId)
  const stored = await run.portfolios.load(escrow.account, look.head)
  if (!stored.portfolio) return attemptNew(run, job, { look, escrow, isDeep, stored })

  const before = { account: escrow.account, ...stored, portfolio: stored.portfolio }
  const finished = await finishEnded(run, before, look)
  memory.loss = worse(memory.loss, finished.loss)
  if (finished.ended.has(orderId)) return endedResult(run, finished, escrow, orderId)
  const { state } = finished
  const entry = state.portfolio.openOrders[orderId]
  if (!entry) return attemptNew(run, job, { look, escrow, isDeep, stored: state })
  // Ended at the head alone: it is over once that block lies deep enough, and nothing is done for it until then.
  if (escrow.state !== 'OPEN' || !isDeep) return deeperLater(run)
  return pursue(run, { state, terms: termsOfEntry(orderId, entry, escrow), entry })
}

function endedResult(run: Run, { ended }: Finished, { deadline }: EscrowedOrder, orderId: Hex): RunResult {
  const end = ended.get(orderId)
  if (end?.kind !== 'unfinished') return { outcome: 'done' }
  const { code } = end
  const retryAt = retryPlaced(run.clock.seconds(), deadline, deadline)
  return { outcome: 'placed', retryAt, ...(code && { code }) }
}

function deeperLater(run: Run): RunResult {
  return { outcome: 'queued', retryAt: retryDeeper(run.clock.seconds()) }
}

/** An order that is not in the portfolio, and what was read of it. */
interface New {
  look: Look
  escrow: EscrowedOrder
  /** Whether the escrow stands at the stated depth as it does at the head. */
  isDeep: boolean
  stored: StoredPortfolio
}

async function attemptNew(run: Run, { orderId, envelope }: OrderJob, seen: New): Promise<RunResult> {
  const { escrow, stored } = seen
  if (escrow.state !== 'OPEN') return { outcome: 'done' }
  if (!seen.isDeep) return deeperLater(run)
  if (!envelope || commitOf(envelope) !== escrow.commit) {
    // An order that a reorganization has replaced may have been placed for what stood there before.
    await assertNothingAtBroker(run, orderId)
    return { outcome: 'rejected' }
  }
  const intent = await unseal(run, orderId, envelope, escrow)
  if (intent) return carryOut(run, intent, seen)
  await assertNothingAtBroker(run, orderId)
  return refundUnheld(run, termsOfEscrow(orderId, escrow), stored)
}

async function carryOut(run: Run, intent: Intent, { escrow, stored }: New): Promise<RunResult> {
  const { nonce, userPubKey } = intent
  const terms = termsOfIntent(intent, escrow)
  const look = await run.chain.look()
  const pausedUntil = await run.chain.pausedUntil(look.head)
  if (pausedUntil !== 0) throw new PostponedError('paused', pausedUntil)
  const admission = await admit(run, terms, intent, stored.portfolio, look)
  if (admission.refused) {
    await assertNothingAtBroker(run, terms.orderId)
    return refundUnheld(run, terms, stored, { code: admission.refused, userPubKey })
  }
  const portfolio = { ...(stored.portfolio ?? emptyPortfolio(userPubKey)), nonce, userPubKey }
  const state: AccountState = { account: escrow.account, ...stored, portfolio }
  if (terms.side === 'WITHDRAW') {
    // It may stand in the place of a trade that a reorganization has replaced after it was filled.
    await assertNothingAtBroker(run, terms.orderId)
    return withdraw(run, state, terms)
  }
  return pursue(run, await writeAhead(run, state, terms, admission.lock))
}
