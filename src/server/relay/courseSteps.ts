import { setTimeout as sleep } from 'node:timers/promises'
import { ChainAnswerError } from '../../chain/errors.js'
import { isOfUsedDigest } from '../../chain/reverts.js'
import { REFUSED_BY_NODES, type Revert } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { Admission } from './admission.js'
import type { ChainView } from './chainView.js'
import type { CourseRecord } from './courseRecord.js'
import type { Outcome, Owner } from './flight.js'
import { hasEffect, type MinedTransaction } from './mined.js'
import type { Preflight } from './preflight.js'
import { confirmed, failed, submitted, unresolved } from './receipts.js'
import type { Transactor } from './transactor.js'

export interface CourseStepsDeps {
  readonly chain: ChainView
  readonly preflight: Preflight
  readonly admission: Admission
  readonly transactor: Transactor
  /** A final receipt is true no more: its transaction was taken out of its block. */
  readonly reopen: (digest: Hex) => void
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
}

/** Does the next thing for one authorization; true when that was the last. */
export type Step = () => Promise<boolean>

/** Between two tries of what failed, and between two looks at an effect that is not deep enough. */
const PAUSE_MS = 1_000

/** A call that no node takes under so many nonces, each of which they then took a filler under, is refused for good. */
const MAX_REFUSALS = 5
const REFUSED: Revert = { name: REFUSED_BY_NODES, args: {} }

/** Until something that failed is tried again, or the server stops. */
export async function pause(stopping: AbortSignal): Promise<void> {
  await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined)
}

/** @param gasLimit of a call that was just checked */
export function createCourseSteps(deps: CourseStepsDeps, record: CourseRecord, gasLimit?: bigint): Step {
  const { chain, transactor, admission } = deps
  const { purpose } = record.current()
  const { digest, target } = record.current().receipt
  const owner = createOwner(deps, record)
  let toResume = unresolved(record.current())
  let checkedGas = gasLimit
  let refusals = 0

  /** The call's gas limit, or null when nothing needs to be sent any more. */
  async function check(): Promise<bigint | null> {
    const call = { to: target, data: record.current().data }
    const [forecast, funds] = await Promise.all([deps.preflight.check(call), admission.funds()])
    if ('gasLimit' in forecast) {
      await admission.admit(digest, purpose, forecast.gasLimit, funds)
      return forecast.gasLimit
    }
    if (isOfUsedDigest(forecast.revert)) throw new ChainAnswerError('two nodes differ on a digest')
    await record.put(failed(record.current(), null, forecast.revert, new Date()))
    return null
  }

  /** A node may know of an effect before it, or one behind the same URL, finds the transaction: it is looked for twice. */
  async function findEffect(): Promise<MinedTransaction | null> {
    const found = await chain.effectOf(record.current())
    if (found !== null || record.current().transactions.length === 0) return found
    await pause(deps.stopping)
    return chain.effectOf(record.current())
  }

  /** True once the effect is as deep as it has to be. Until then a reorganization may take it back. */
  async function awaitDepth(): Promise<boolean> {
    if (!(await chain.isDeep(target, digest))) {
      await pause(deps.stopping)
      return false
    }
    await record.put(confirmed(record.current(), await findEffect(), new Date()))
    return true
  }

  async function afterMined(transaction: MinedTransaction): Promise<boolean> {
    // Kept until the end is on disk: should writing it fail, the transaction is found again.
    toResume = record.current().transactions
    if (hasEffect(transaction, target)) {
      await record.put(confirmed(record.current(), transaction, new Date()))
      return true
    }
    // It may have reverted because another of its transactions was first.
    if (await chain.isUsed(target, digest)) {
      toResume = []
      return false
    }
    const reason = await chain.reasonOf(record.current(), transaction)
    await record.put(failed(record.current(), transaction, reason, new Date()))
    return true
  }

  /** What was sent is not mined any more, as a rule: fillers were in its place. Posted again, `usedDigest` decides. */
  async function giveUp(): Promise<boolean> {
    await record.put(failed(record.current(), null, REFUSED, new Date()))
    return true
  }

  async function after(outcome: Outcome): Promise<boolean> {
    if (outcome.kind === 'mined') return afterMined(outcome.transaction)
    toResume = []
    if (outcome.kind === 'refused') refusals++
    return outcome.kind === 'stopped'
  }

  return async () => {
    if (toResume.length > 0) return after(await transactor.resume(toResume, owner))
    if (checkedGas === undefined && (await chain.isUsed(target, digest))) return awaitDepth()
    if (refusals >= MAX_REFUSALS) return giveUp()
    const gas = checkedGas ?? (await check())
    checkedGas = undefined
    if (gas === null) return true
    if (transactor.isFull()) await record.keep()
    return after(await transactor.send({ to: target, data: record.current().data, gasLimit: gas }, owner))
  }
}

function createOwner({ chain, admission, reopen }: CourseStepsDeps, record: CourseRecord): Owner {
  const { digest, target } = record.current().receipt
  return {
    save: (transaction) => record.put(submitted(record.current(), transaction, new Date())),
    counted: () => admission.counted(digest),
    isNeeded: async () => !(await chain.isUsed(target, digest)),
    used: (gas) => admission.used(digest, gas),
    lost: () => admission.lost(digest),
    dropped: () => reopen(digest),
  }
}
