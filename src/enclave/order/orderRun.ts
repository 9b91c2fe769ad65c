// One run of one order. The order of its steps keeps the money right: see docs/enclave.md.
import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import { commitOf, type Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import type { Intent } from '../../protocol/intent.js'
import type { RunResult } from '../../protocol/job.js'
import { emptyPortfolio } from '../../protocol/portfolio.js'
import type { BlockPoint } from '../chainState.js'
import { RunFailure, restarting } from '../failures.js'
import type { StoredPortfolio } from '../portfolioStore.js'
import type { Run } from '../run.js'
import type { AccountState } from './accountState.js'
import { admit } from './admit.js'
import { type Finished, finishEnded, RECLAIMED_AFTER_FILL } from './ended.js'
import { pursue } from './held.js'
import { refundUnheld } from './refund.js'
import { retryPlaced } from './retry.js'
import { termsOfEntry, termsOfIntent } from './terms.js'
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
  /** Whether it took note of a buy that was reclaimed after its fill. */
  loss: boolean
}

/** Brings an order as far as it can get, and begins again when something else was first. */
export async function runOrder(run: Run, job: OrderJob): Promise<RunResult> {
  const memory: Memory = { loss: false }
  const result = await restarting(() => attempt(run, job, memory))
  return memory.loss && !result.code ? { ...result, code: RECLAIMED_AFTER_FILL } : result
}

async function attempt(run: Run, job: OrderJob, memory: Memory): Promise<RunResult> {
  const { orderId } = job
  const block = await run.chain.latest()
  const escrow = await run.chain.escrow.orders(orderId, block.number)
  // The server starts no run before it has seen the escrow: the enclave's own node is behind.
  if (escrow.state === 'NONE') throw new RunFailure('order-unknown')
  const stored = await run.portfolios.load(escrow.account, block.number)
  if (!stored.portfolio) return attemptNew(run, job, escrow, stored)

  const before = { account: escrow.account, portfolio: stored.portfolio, version: stored.version }
  const finished = await finishEnded(run, before, block)
  memory.loss ||= finished.loss
  if (finished.ended.has(orderId)) return endedResult(run, finished, escrow, orderId)
  const { state } = finished
  const entry = state.portfolio.openOrders[orderId]
  if (!entry) return attemptNew(run, job, escrow, state)
  const terms = termsOfEntry(orderId, entry, escrow)
  return pursue(run, { state, terms, entry })
}

function endedResult(run: Run, { ended }: Finished, { deadline }: EscrowedOrder, orderId: Hex): RunResult {
  if (ended.get(orderId) === 'ended') return { outcome: 'done' }
  return { outcome: 'placed', retryAt: retryPlaced(run.clock.seconds(), deadline, deadline) }
}

/** An order that is not in the portfolio. */
async function attemptNew(
  run: Run,
  { orderId, envelope }: OrderJob,
  escrow: EscrowedOrder,
  stored: StoredPortfolio,
): Promise<RunResult> {
  if (escrow.state !== 'OPEN') return { outcome: 'done' }
  if (!envelope || commitOf(envelope) !== escrow.commit) return { outcome: 'rejected' }
  const intent = await unseal(run, orderId, envelope, escrow)
  if (!intent) return refundUnheld(run, orderId, stored.version)
  const block = await run.chain.latest()
  return carryOut(run, intent, escrow, { block, stored })
}

async function carryOut(
  run: Run,
  intent: Intent,
  escrow: EscrowedOrder,
  { block, stored }: { block: BlockPoint; stored: StoredPortfolio },
): Promise<RunResult> {
  const { nonce, userPubKey } = intent
  const terms = termsOfIntent(intent, escrow)
  const admission = await admit(run, terms, intent, stored.portfolio, block)
  if (admission.refused) {
    return refundUnheld(run, terms.orderId, stored.version, { code: admission.refused, userPubKey })
  }
  const portfolio = { ...(stored.portfolio ?? emptyPortfolio(userPubKey)), nonce, userPubKey }
  const state: AccountState = { account: escrow.account, portfolio, version: stored.version }
  if (terms.side === 'WITHDRAW') return withdraw(run, state, terms)
  return pursue(run, await writeAhead(run, state, terms, admission.lock))
}
