import { setTimeout as sleep } from 'node:timers/promises'
import { ChainAnswerError } from '../../chain/errors.js'
import { isOfUsedDigest } from '../../chain/reverts.js'
import { isFinal, REFUSED_BY_NODES, type Receipt, type Revert } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { isOpening } from '../../protocol/postedOpening.js'
import { describeError, type Logger } from '../../service/logger.js'
import { withTimeout } from '../../service/waiting.js'
import type { GasPurpose, ReceiptStore, RelayRecord, StoredRelay } from '../store/receipts.js'
import { hasEffect } from '../txManager/confirmations.js'
import type { MinedTransaction, Owner, TxOutcome } from '../txManager/pendingTx.js'
import type { TxManager } from '../txManager/txManager.js'
import type { Admission } from './admission.js'
import type { ChainView } from './chainView.js'
import type { Preflight } from './preflight.js'
import {
  confirmed,
  createJobRecord,
  failed,
  type JobRecord,
  submitted,
  TakenElsewhereError,
  unresolved,
} from './record.js'

export interface RelayJobDeps {
  readonly store: ReceiptStore
  readonly chain: ChainView
  readonly preflight: Preflight
  readonly admission: Admission
  readonly txManager: TxManager
  /** Called when a final receipt became wrong because its transaction left its block. */
  readonly reopen: (digest: Hex) => void
  /** Aborts when the term or the server ends. */
  readonly stopping: AbortSignal
  /** Called with the receipt of each job that has ended. */
  readonly onEnd?: ((receipt: Receipt) => void) | undefined
  readonly logger: Logger
}

/** One authorization, from its stored record to its end. */
export interface RelayJob {
  current(): Receipt
  /** The purpose of its gas. */
  readonly purpose: GasPurpose
  /** The final receipt, or the last one when the term or the server ends first. Never rejects. */
  readonly end: Promise<Receipt>
}

/** If the transaction is not saved after this long, the record is saved first. */
const SOON_MS = 200

/** Takes up a record that is stored. */
export function resumeJob(deps: RelayJobDeps, stored: StoredRelay): RelayJob {
  const record = createJobRecord(deps.store, stored, { isKept: true })
  return run(deps, record, createJobSteps(deps, record))
}

/**
 * Begins with a call that has just been checked. Writes the record when its transaction is signed, or before that when it has
 * to wait, and then resolves. From there on the job reaches its end, in another process if need be.
 *
 * @param initial with the version that it is to replace
 * @throws StorageError, TakenElsewhereError: nothing was sent then, and nothing will be
 */
export async function startJob(
  deps: RelayJobDeps,
  initial: StoredRelay,
  gasLimit: bigint,
): Promise<RelayJob> {
  const record = createJobRecord(deps.store, initial, { isKept: false })
  const job = run(deps, record, createJobSteps(deps, record, gasLimit))
  const isSoon = await withTimeout(
    record.kept.then(() => true),
    SOON_MS,
  )
  if (!isSoon) await record.keep()
  return job
}

/** A job that has already ended. */
export function endedJob({ receipt, purpose }: RelayRecord): RelayJob {
  return { current: () => receipt, purpose, end: Promise.resolve(receipt) }
}

function run(deps: RelayJobDeps, record: JobRecord, step: Step): RelayJob {
  const current = () => record.current().receipt
  // It rejects when the store refuses the first version of the record; `kept` then rejects too.
  const end = takeSteps(deps, record, step)
    .catch(() => undefined)
    .then(current)
  return { current, purpose: record.current().purpose, end }
}

/**
 * Retries every failure on the way (nodes, store) until the term ends: the next term goes on from the record.
 */
async function takeSteps(deps: RelayJobDeps, record: JobRecord, step: Step): Promise<void> {
  const { stopping, logger } = deps
  const { digest, primaryType } = record.current().receipt
  while (!stopping.aborted) {
    try {
      if (await step()) break
    } catch (error) {
      // A transaction that was sent here may be mined, and has its effect once all the same.
      if (error instanceof TakenElsewhereError) return
      logger.warn('relay step failed', { digest, primaryType, ...describeError(error) })
      await record.keep()
      await pause(stopping)
    }
  }
  await record.keep()
  const { receipt } = record.current()
  const message = isFinal(receipt) ? 'authorization relayed' : 'authorization left for the next start'
  logger.info(message, { digest, primaryType, txHash: receipt.txHash, outcome: receipt.status })
  deps.onEnd?.(receipt)
}

/**
 * Stores a final record and the end of its gas. A confirmed record comes second: a server that is killed in between ends the gas again.
 * A failed one comes first, because another server may have the account by now and go on. What a kill or a failing store then leaves is
 * ended by {@link GasBudget.endOrphans}.
 */
export async function endRecord<T>(
  admission: Pick<Admission, 'end'>,
  final: RelayRecord,
  put: (final: RelayRecord) => Promise<T>,
): Promise<T> {
  const { digest, status } = final.receipt
  if (status === 'confirmed') {
    await admission.end(digest, final.purpose, true)
    return put(final)
  }
  const stored = await put(final)
  await admission.end(digest, final.purpose, false).catch(() => undefined)
  return stored
}

/** Takes the next step for one authorization; true when it was the last. */
type Step = () => Promise<boolean>

/** Pause after a failed step, and between two looks at an effect that is not deep enough. */
const PAUSE_MS = 1_000

/**
 * The revert of an opening after its check: another transaction has opened an order under its id, and has paid for that. The relay
 * itself has one opening of an id under way at most. So the account's quota does not pay.
 */
const ID_TAKEN = 'OrderIdTaken'

/** A call has failed once nodes refused it under so many nonces, each of which a no-op then used. */
const MAX_REFUSALS = 5
const REFUSED: Revert = { name: REFUSED_BY_NODES, args: {} }

/** Waits before the next try, or until `stopping` aborts. */
export async function pause(stopping: AbortSignal): Promise<void> {
  await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined)
}

/** @param gasLimit of a call that was just checked */
function createJobSteps(deps: RelayJobDeps, record: JobRecord, gasLimit?: bigint): Step {
  const { chain, txManager, admission } = deps
  const { purpose } = record.current()
  const { digest, target, primaryType } = record.current().receipt
  const relayed = { target, digest, data: record.current().data }
  /** Takes the gas of the last mined transaction off its quota. */
  let excuse = () => {}
  const owner: Owner = {
    save: (transaction) => record.put(submitted(record.current(), transaction, new Date())),
    counted: () => admission.counted(digest),
    isNeeded: async () => !(await chain.isUsed(relayed)),
    used(gas) {
      excuse = admission.used(digest, gas)
    },
    lost: () => admission.lost(digest),
    dropped: () => deps.reopen(digest),
  }
  let toResume = unresolved(record.current())
  let checkedGas = gasLimit
  let refusals = 0

  const end = (next: RelayRecord) => endRecord(admission, next, (final) => record.put(final))

  /** The call's gas limit, or null once the job has ended without a send. */
  async function check(): Promise<bigint | null> {
    const call = { to: target, data: relayed.data }
    const [forecast, funds] = await Promise.all([deps.preflight.check(call), admission.funds()])
    if ('gasLimit' in forecast) {
      await admission.admit(digest, purpose, forecast.gasLimit, funds)
      return forecast.gasLimit
    }
    if (isOfUsedDigest(forecast.revert)) throw new ChainAnswerError('two nodes differ on a digest')
    await end(failed(record.current(), null, forecast.revert, new Date()))
    return null
  }

  /** Looks twice: a node, or another one behind the same URL, may find the transaction only some time after its effect. */
  async function findEffect(): Promise<MinedTransaction | null> {
    const found = await chain.effectOf(record.current())
    if (found !== null || record.current().transactions.length === 0) return found
    await pause(deps.stopping)
    return chain.effectOf(record.current())
  }

  /** True once the effect is as deep as it has to be. Until then a reorganization may take it back. */
  async function awaitDepth(): Promise<boolean> {
    if (!(await chain.isDeep(relayed))) {
      await pause(deps.stopping)
      return false
    }
    await end(confirmed(record.current(), await findEffect(), new Date()))
    return true
  }

  async function afterMined(transaction: MinedTransaction): Promise<boolean> {
    // If storing the end fails, the next step resumes these transactions and finds the mined one again.
    toResume = record.current().transactions
    if (hasEffect(transaction, target)) {
      await end(confirmed(record.current(), transaction, new Date()))
      return true
    }
    // It may have reverted because another of its transactions was first.
    if (await chain.isUsed(relayed)) {
      if (isOpening(primaryType)) excuse()
      toResume = []
      return false
    }
    const reason = await chain.reasonOf(record.current(), transaction)
    if (reason.name === ID_TAKEN) excuse()
    await end(failed(record.current(), transaction, reason, new Date()))
    return true
  }

  /** Its transactions can hardly be mined any more, because no-ops took their nonces. A repeated post asks `usedDigest`. */
  async function giveUp(): Promise<boolean> {
    await end(failed(record.current(), null, REFUSED, new Date()))
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
    if (refusals >= MAX_REFUSALS) return giveUp()
    const gas = checkedGas ?? (await check())
    checkedGas = undefined
    if (gas === null) return true
    if (txManager.isFull()) await record.keep()
    return after(await txManager.send({ to: target, data: relayed.data, gasLimit: gas }, owner))
  }
}
