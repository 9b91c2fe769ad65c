import { ChainAnswerError } from '../../chain/errors.js'
import { isOfUsedDigest } from '../../chain/reverts.js'
import type { Revert } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { isOpening } from '../../protocol/postedOpening.js'
import { isFinal, REFUSED_BY_NODES, type Receipt } from '../../protocol/relayReceipt.js'
import { describeError, type Logger } from '../../service/logger.js'
import { pause } from '../../service/waiting.js'
import type { ReceiptStore, RelayRecord, StoredRelay } from '../store/receipts.js'
import { hasEffect } from '../txManager/confirmations.js'
import type { MinedTransaction, Owner, TxOutcome } from '../txManager/pendingTx.js'
import type { TxManager } from '../txManager/txManager.js'
import type { ChainView } from './chainView.js'
import type { GasBudget } from './gasBudget.js'
import type { Admission, Funds, Preflight } from './preflight.js'
import {
  confirmed,
  createJobRecord,
  failed,
  type JobRecord,
  SupersededError,
  submitted,
  unresolved,
  withLimit,
} from './record.js'

export interface RelayJobDeps {
  readonly store: ReceiptStore
  readonly chain: ChainView
  readonly preflight: Preflight
  readonly admission: Admission
  readonly budget: Pick<GasBudget, 'put'>
  readonly txManager: TxManager
  /** Called when a final receipt became wrong because its block lost the transaction. */
  readonly reopen: (digest: Hex) => void
  readonly stopping: AbortSignal
  readonly onEnd?: ((receipt: Receipt) => void) | undefined
  readonly logger: Logger
}

/** One authorization on its way to its end, on this server or another. */
export interface RelayJob {
  current(): Receipt
  /** The final receipt, or the last one when the term or the server ends first. Never rejects. */
  readonly end: Promise<Receipt>
}

/**
 * Resumes a stored record. From there on the job reaches its end, in another process if need be.
 * @param gasLimit of a call that was just checked and admitted
 */
export function startJob(deps: RelayJobDeps, stored: StoredRelay, gasLimit?: bigint): RelayJob {
  const record = createJobRecord(deps.store, deps.budget, stored)
  const current = () => record.current().receipt
  return { current, end: runSteps(deps, record, createJobSteps(deps, record, gasLimit)).then(current) }
}

export function endedJob({ receipt }: RelayRecord): RelayJob {
  return { current: () => receipt, end: Promise.resolve(receipt) }
}

/** Retries every failure on the way (nodes, store) until the term ends: the next term goes on from the record. */
async function runSteps(deps: RelayJobDeps, record: JobRecord, step: Step): Promise<void> {
  const { stopping, logger } = deps
  const { digest, primaryType } = record.current().receipt
  while (!stopping.aborted) {
    try {
      if (await step()) break
    } catch (error) {
      // A transaction that was sent here may be mined, and has its effect once all the same.
      if (error instanceof SupersededError) return
      logger.warn('relay step failed', { digest, primaryType, ...describeError(error) })
      await pause(PAUSE_MS, stopping)
    }
  }
  const { receipt } = record.current()
  const message = isFinal(receipt) ? 'authorization relayed' : 'authorization deferred to the next start'
  logger.info(message, { digest, primaryType, txHash: receipt.txHash, outcome: receipt.status })
  deps.onEnd?.(receipt)
}

/** Runs the next step of one authorization; true when it was the last. */
type Step = () => Promise<boolean>

/** Pause after a failed step, and between two checks of an effect that is not deep enough. */
export const PAUSE_MS = 1_000

/**
 * The revert of an opening after its check: another transaction has opened an order under its id, and has paid for that. The relay
 * itself has one opening of an id under way at most. So the account's quota does not pay.
 */
const DUPLICATE_ID = 'OrderIdTaken'

/** A call has failed once nodes refused it under so many nonces, each of which a no-op then used. */
const MAX_REFUSALS = 5
const REFUSED: Revert = { name: REFUSED_BY_NODES, args: {} }

/** @param gasLimit of a call that was just checked */
function createJobSteps(deps: RelayJobDeps, record: JobRecord, gasLimit?: bigint): Step {
  const { chain, txManager, admission } = deps
  const { digest, target, primaryType } = record.current().receipt
  const relayed = { target, digest, data: record.current().data }
  /** Stored with the next version. What a kill loses of it, the next term finds out again with the transactions. */
  let { gas } = record.current()
  let lastUsed = 0n
  const current = () => ({ ...record.current(), gas })
  /** Subtracts the gas of the last mined transaction from its quota. */
  const excuse = () => {
    gas = { ...gas, excused: gas.excused + lastUsed }
  }
  const owner: Owner = {
    save: (transaction) => record.put(submitted(current(), transaction)),
    counted: () => admission.forget(digest),
    isNeeded: async () => !(await chain.isUsed(relayed)),
    used(mined) {
      lastUsed = mined
      gas = { ...gas, setAside: 0n, used: gas.used + mined }
    },
    lost() {
      gas = { ...gas, setAside: 0n, used: gas.used + gas.setAside }
    },
    dropped: () => deps.reopen(digest),
  }
  let toResume = unresolved(record.current())
  let checkedGas = gasLimit
  let refusals = 0

  async function admit(gasLimit: bigint, funds: Funds): Promise<void> {
    const next = withLimit(current(), gasLimit)
    await admission.admit(digest, gasLimit, funds, (bookable) => record.put(next, bookable))
    gas = next.gas
  }

  /** The call's gas limit, or null once the job has ended without a send. */
  async function check(): Promise<bigint | null> {
    const call = { to: target, data: relayed.data }
    const [forecast, funds] = await Promise.all([deps.preflight.check(call), admission.funds()])
    if ('gasLimit' in forecast) {
      await admit(forecast.gasLimit, funds)
      return forecast.gasLimit
    }
    if (isOfUsedDigest(forecast.revert)) throw new ChainAnswerError('two nodes differ on a digest')
    await record.put(failed(current(), null, forecast.revert))
    return null
  }

  /** Asks twice: a node, or another one behind the same URL, may find the transaction only some time after its effect. */
  async function findEffect(): Promise<MinedTransaction | null> {
    const found = await chain.effectOf(record.current())
    if (found !== null || record.current().transactions.length === 0) return found
    await pause(PAUSE_MS, deps.stopping)
    return chain.effectOf(record.current())
  }

  /** True once the effect is as deep as it has to be. Until then a reorganization may undo it. */
  async function awaitDepth(): Promise<boolean> {
    if (!(await chain.isDeep(relayed))) {
      await pause(PAUSE_MS, deps.stopping)
      return false
    }
    await record.put(confirmed(current(), await findEffect()))
    return true
  }

  async function afterMined(transaction: MinedTransaction): Promise<boolean> {
    // If storing the end fails, the next step resumes these transactions and finds the mined one again.
    toResume = record.current().transactions
    if (hasEffect(transaction, target)) {
      await record.put(confirmed(current(), transaction))
      return true
    }
    // It may have reverted because another of its transactions was first.
    if (await chain.isUsed(relayed)) {
      if (isOpening(primaryType)) excuse()
      toResume = []
      return false
    }
    const reason = await chain.reasonOf(record.current(), transaction)
    if (reason.name === DUPLICATE_ID) excuse()
    await record.put(failed(current(), transaction, reason))
    return true
  }

  async function after(outcome: TxOutcome): Promise<boolean> {
    if (outcome.kind === 'mined') return afterMined(outcome.transaction)
    toResume = []
    if (outcome.kind === 'refused') refusals++
    return outcome.kind === 'stopped'
  }

  return async () => {
    if (toResume.length > 0) return after(await txManager.resume(toResume, owner))
    if (checkedGas === undefined && (await chain.isUsed(relayed))) return awaitDepth()
    if (refusals >= MAX_REFUSALS) {
      // Its transactions can hardly be mined any more, because no-ops used their nonces. A repeated post asks `usedDigest`.
      await record.put(failed(current(), null, REFUSED))
      return true
    }
    const limit = checkedGas ?? (await check())
    checkedGas = undefined
    if (limit === null) return true
    return after(
      await txManager.send(
        { to: target, data: relayed.data, gasLimit: limit },
        owner,
        isOpening(primaryType),
      ),
    )
  }
}
