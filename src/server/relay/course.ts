import { setTimeout as sleep } from 'node:timers/promises'
import { ChainAnswerError } from '../../chain/errors.js'
import { isOfUsedDigest } from '../../chain/reverts.js'
import { isFinal, type Receipt } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { createDeferred } from '../async/deferred.js'
import { createKeyedLock } from '../async/keyedLock.js'
import { within } from '../async/waiting.js'
import { describeError, type Logger } from '../logger.js'
import type { ReceiptStore, RelayRecord, SignedTransaction } from '../store/receipts.js'
import type { Admission } from './admission.js'
import type { ChainView } from './chainView.js'
import type { Outcome, Sender } from './inFlight.js'
import { hasEffect } from './mined.js'
import type { Preflight } from './preflight.js'
import { confirmed, failed, submitted, unresolved } from './receipts.js'
import type { Transactor } from './transactor.js'

export interface CourseDeps {
  readonly store: ReceiptStore
  readonly chain: ChainView
  readonly preflight: Preflight
  readonly admission: Admission
  readonly transactor: Transactor
  /** A final receipt is true no more: its transaction was taken out of its block. */
  readonly reopen: (digest: Hex) => void
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  /** Is told of each course's end. */
  readonly onEnd?: ((receipt: Receipt) => void) | undefined
  readonly logger: Logger
}

/** One authorization, from its record on disk to its end. */
export interface Course {
  current(): Receipt
  /** The final receipt, or, when the server stops before, the last one. Never rejects. */
  readonly end: Promise<Receipt>
}

/** Between two tries of what failed, and between two looks at an effect that is not deep enough. */
const PAUSE_MS = 1_000

/** Takes up a record that is on disk. */
export function resumeCourse(deps: CourseDeps, record: RelayRecord): Course {
  return follow(deps, record).course
}

/** A call whose transaction is not signed and saved after this long waits for something. */
const SOON_MS = 200

/**
 * Begins with a call that has just been checked. Its record is written when its transaction is signed, or before that
 * when it has to wait. Resolves then: from there on it comes to its end, by another process if need be.
 *
 * @throws StorageError: nothing was sent then, and nothing will be
 */
export async function startCourse(deps: CourseDeps, record: RelayRecord, gasLimit: bigint): Promise<Course> {
  const { course, kept, keep } = follow(deps, record, gasLimit)
  const isSoon = await within(
    kept.then(() => true),
    SOON_MS,
  )
  if (!isSoon) await keep()
  return course
}

/**
 * Whatever fails on the way (nodes, disk) is tried again until the server stops: the next process then goes on from the
 * record.
 *
 * @param gasLimit of a call that was just checked, and whose record is not on disk
 */
function follow(deps: CourseDeps, initial: RelayRecord, gasLimit?: bigint) {
  const { store, chain, transactor, stopping, logger } = deps
  const { digest, primaryType, target } = initial.receipt
  const kept = createDeferred<void>()
  const writes = createKeyedLock()
  let isKept = gasLimit === undefined
  let refusal: unknown
  let record = initial
  let toResume = unresolved(initial)
  let checkedGas = gasLimit

  async function write(next: RelayRecord): Promise<void> {
    // Its caller has been told that nothing will be sent.
    if (refusal !== undefined) throw refusal
    try {
      await store.put(digest, next)
    } catch (error) {
      if (!isKept) refusal = error
      throw error
    }
    record = next
    isKept = true
    kept.resolve()
  }

  // One after another: what is signed is never written over by what was known before.
  const put = (next: RelayRecord) => writes.run(digest, () => write(next))
  const keep = () => writes.run(digest, async () => (isKept ? undefined : write(record)))

  const sender: Sender = {
    save: (transaction: SignedTransaction) => put(submitted(record, transaction, new Date())),
    underWay: () => deps.admission.underWay(digest),
    isNeeded: async () => !(await chain.isUsed(target, digest)),
    dropped: () => deps.reopen(digest),
  }

  /** The next thing to do; true when that was the last. */
  async function step(): Promise<boolean> {
    if (toResume.length > 0) return conclude(await transactor.resume(toResume, sender))
    if (checkedGas === undefined && (await chain.isUsed(target, digest))) return takenEffect()
    const gas = checkedGas ?? (await check())
    checkedGas = undefined
    if (gas === null) return true
    if (transactor.isFull()) await keep()
    return conclude(await transactor.send({ to: target, data: record.data, gasLimit: gas }, sender))
  }

  /** The call's gas limit, or null when nothing needs to be sent any more. */
  async function check(): Promise<bigint | null> {
    const [forecast, funds] = await Promise.all([
      deps.preflight.check({ to: target, data: record.data }),
      deps.admission.funds(),
    ])
    if ('gasLimit' in forecast) {
      await deps.admission.admit(digest, forecast.gasLimit, funds)
      return forecast.gasLimit
    }
    if (isOfUsedDigest(forecast.revert)) throw new ChainAnswerError('two nodes differ on a digest')
    await put(failed(record, null, forecast.revert, new Date()))
    return null
  }

  /** True once the effect is as deep as it has to be. Until then a reorganization may take it back. */
  async function takenEffect(): Promise<boolean> {
    if (!(await chain.isDeep(target, digest))) {
      await pause()
      return false
    }
    await put(confirmed(record, await chain.effectOf(record), new Date()))
    return true
  }

  async function conclude(outcome: Outcome): Promise<boolean> {
    if (outcome.kind === 'stopped') return true
    if (outcome.kind === 'displaced') {
      toResume = []
      return false
    }
    // Kept until the end is on disk: should writing it fail, the transaction is found again.
    toResume = record.transactions
    const { transaction } = outcome
    if (hasEffect(transaction, target)) {
      await put(confirmed(record, transaction, new Date()))
      return true
    }
    // It may have reverted because another of its transactions was first.
    if (await chain.isUsed(target, digest)) {
      toResume = []
      return false
    }
    await put(failed(record, transaction, await chain.reasonOf(record, transaction), new Date()))
    return true
  }

  async function pause(): Promise<void> {
    await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined)
  }

  async function run(): Promise<void> {
    while (!stopping.aborted) {
      try {
        if (await step()) break
      } catch (error) {
        logger.warn('relay step failed', { digest, primaryType, ...describeError(error) })
        await keep()
        await pause()
      }
    }
    await keep()
    const { status, txHash } = record.receipt
    const says = isFinal(record.receipt) ? 'authorization relayed' : 'authorization left for the next start'
    logger.info(says, { digest, primaryType, txHash, outcome: status })
    deps.onEnd?.(record.receipt)
  }

  const end = run()
    .catch(kept.reject)
    .then(() => record.receipt)
  return { course: { current: () => record.receipt, end }, kept: kept.promise, keep }
}
