import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOfUsedDigest } from '../../chain/reverts.js'
import { isFinal, type Receipt } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { createDeferred } from '../async/deferred.js'
import { Problem } from '../http/problems.js'
import type { Service } from '../lifetime.js'
import { describeError } from '../logger.js'
import type { RelayRecord } from '../store/receipts.js'
import type { VerifiedAuthorization } from './authorization.js'
import { type Course, type CourseDeps, resumeCourse, startCourse } from './course.js'
import { confirmed, pendingRecord, putBack, settling } from './receipts.js'

export interface RelayDeps extends Omit<CourseDeps, 'reopen'> {
  /** Authorizations under way at once, those included that nothing is sent for yet. */
  readonly maxUnderWay: number
}

/** Relays authorizations that the enclave signed, each to one effect at most. */
export interface Relay {
  /**
   * Begins to relay, or joins whoever does so already. Nothing is spent on an authorization that has taken effect.
   *
   * @throws Problem `would-revert`, `relayer-underfunded`, `relay-budget-exhausted`, `relay-overloaded`,
   *   `chain-unavailable`, StorageError: nothing was signed or stored then. ChainUnavailableError
   */
  post(authorization: VerifiedAuthorization): Promise<Course>
  /**
   * The receipt of an authorization, undefined when there is none that can be trusted.
   * @throws ChainUnavailableError when the chain can't be asked whether it is still true
   */
  find(digest: Hex): Promise<Receipt | undefined>
  /** How many authorizations are under way, in whatever state. */
  underWay(): number
  /** Its start takes up what an earlier process left unfinished. */
  readonly service: Service
}

/** A record that could not be put back, as the disk failed, is tried again after this long. */
const PUT_BACK_AGAIN_MS = 1_000

export function createRelay(deps: RelayDeps): Relay {
  const { store, chain, preflight, admission, logger } = deps
  const stopped = new AbortController()
  const stopping = AbortSignal.any([deps.stopping, stopped.signal])
  // Every course may listen to it.
  setMaxListeners(0, stopping)
  const courseDeps = { ...deps, stopping, reopen }
  const underWay = new Map<Hex, Promise<Course>>()
  const recovered = createDeferred<void>()

  /** Registered before anything is awaited, so that whoever comes next joins. */
  function register(digest: Hex, begun: Promise<Course>): Promise<Course> {
    underWay.set(digest, begun)
    const ended = begun.then((course) => course.end)
    const forget = () => underWay.delete(digest)
    ended.then((receipt) => {
      forget()
      // What the stop leaves under way will use its gas in the next process.
      if (isFinal(receipt)) admission.release(digest)
    }, forget)
    return begun
  }

  async function begin(authorization: VerifiedAuthorization): Promise<Course> {
    const { digest, target, data } = authorization
    const [cached, forecast, funds] = await Promise.all([
      store.get(digest),
      preflight.check({ to: target, data }),
      admission.funds(),
    ])
    const record = pendingRecord(authorization, new Date(), cached?.transactions)
    if ('revert' in forecast) {
      // What has taken effect reverts too: its digest is used up. A node that trails may not know of that.
      const isUsed = isOfUsedDigest(forecast.revert) || (await chain.isUsed(target, digest))
      if (isUsed) return takeUp(cached ?? record)
      throw new Problem('would-revert', { extensions: { revert: forecast.revert } })
    }
    await admission.admit(digest, forecast.gasLimit, funds)
    try {
      return await startCourse(courseDeps, record, forecast.gasLimit)
    } catch (error) {
      admission.release(digest)
      throw error
    }
  }

  /** What the chain says is used, whatever was thought of it before. It is confirmed once it is deep enough. */
  async function takeUp(record: RelayRecord): Promise<Course> {
    const { digest, target, status } = record.receipt
    if (status === 'confirmed' && (await isTrue(record.receipt))) return ended(record.receipt)
    const isDeep = await chain.isDeep(target, digest)
    const next = isDeep
      ? confirmed(record, await chain.effectOf(record), new Date())
      : settling(record, new Date())
    await store.put(digest, next)
    return isDeep ? ended(next.receipt) : resumeCourse(courseDeps, next)
  }

  /** A chain that was reset knows nothing of a transaction of before, or has it elsewhere. */
  async function isTrue({ status, txHash, blockNumber }: Receipt): Promise<boolean> {
    if (txHash === null || blockNumber === null) return true
    const now = await chain.whereIs(txHash)
    // A node that trails does not deny an effect: what is known of it would be lost for good.
    const isTrailing = status === 'confirmed' && now.blockNumber === null && now.head < blockNumber
    return now.blockNumber === blockNumber || isTrailing
  }

  /** A reorganization took its transaction back: it is followed again, and sent again where no pool has kept it. */
  function reopen(digest: Hex): void {
    if (stopping.aborted) return
    const current = underWay.get(digest)
    if (current !== undefined) {
      const again = () => reopen(digest)
      current.then((course) => course.end).then(again, again)
      return
    }
    const begun = (async () => {
      const record = await store.get(digest)
      if (record === undefined) throw new Problem('receipt-not-found')
      const open = putBack(record, new Date())
      await store.put(digest, open)
      logger.warn('transaction put back', { digest, txHash: record.receipt.txHash })
      return resumeCourse(courseDeps, open)
    })()
    register(digest, begun).catch(async (error: unknown) => {
      logger.warn('transaction not put back yet', { digest, ...describeError(error) })
      await sleep(PUT_BACK_AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined)
      reopen(digest)
    })
  }

  async function recover(): Promise<void> {
    const unfinished = await store.unfinished()
    for (const record of unfinished) {
      void register(record.receipt.digest, Promise.resolve(resumeCourse(courseDeps, record)))
    }
    logger.info('unfinished authorizations taken up', { count: unfinished.length })
  }

  return {
    async post(authorization) {
      await recovered.promise
      const joined = underWay.get(authorization.digest)
      if (joined !== undefined) return joined
      if (underWay.size >= deps.maxUnderWay) throw new Problem('relay-overloaded')
      return register(authorization.digest, begin(authorization))
    },
    async find(digest) {
      await recovered.promise
      const course = await underWay.get(digest)?.catch(() => undefined)
      if (course !== undefined) return course.current()
      const record = await store.get(digest)
      if (record === undefined) return undefined
      const { receipt } = record
      const used = await chain.isUsed(receipt.target, digest)
      const isConfirmed = receipt.status === 'confirmed'
      if (used === isConfirmed && (await isTrue(receipt))) return receipt
      if (!used) return undefined
      // Another may have ended it meanwhile.
      const fresh = async () => takeUp((await store.get(digest)) ?? record)
      const begun = underWay.get(digest) ?? register(digest, fresh())
      return (await begun).current()
    },
    underWay: () => underWay.size,
    service: {
      name: 'relay',
      async start() {
        await recover()
        recovered.resolve()
      },
      async stop() {
        stopped.abort()
        const courses = await Promise.allSettled(underWay.values())
        await Promise.all(
          courses.map((course) => (course.status === 'fulfilled' ? course.value.end : undefined)),
        )
      },
    },
  }
}

/** A course that needs no steps. */
function ended(receipt: Receipt): Course {
  return { current: () => receipt, end: Promise.resolve(receipt) }
}
