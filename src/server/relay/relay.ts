import { setMaxListeners } from 'node:events'
import { isOfUsedDigest } from '../../chain/reverts.js'
import { isFinal, type Receipt } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { createDeferred } from '../async/deferred.js'
import { Problem } from '../http/problems.js'
import type { Service } from '../lifetime.js'
import type { RelayRecord } from '../store/receipts.js'
import type { VerifiedAuthorization } from './authorization.js'
import { type Course, type CourseDeps, resumeCourse, startCourse } from './course.js'
import { createCourses } from './courses.js'
import { pendingRecord } from './receipts.js'
import { createReopening } from './reopening.js'
import { createStoredReceipts, type StoredReceipts } from './storedReceipts.js'

export interface RelayDeps extends Omit<CourseDeps, 'reopen'> {
  /** Authorizations under way at once, those included that nothing is sent for yet. */
  readonly maxUnderWay: number
}

/** Relays authorizations that the enclave signed, each to one effect at most. */
export interface Relay {
  /**
   * Begins to relay, or joins whoever does so already. Nothing is spent on an authorization that has taken effect.
   *
   * @throws Problem `would-revert`, `relayer-underfunded`, `relay-quota-exhausted`, `relay-budget-exhausted`,
   *   `relay-overloaded`, `chain-unavailable`, StorageError: nothing was signed or stored then. ChainUnavailableError
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

export function createRelay(deps: RelayDeps): Relay {
  const { store, chain, admission, logger } = deps
  const stopped = new AbortController()
  const stopping = AbortSignal.any([deps.stopping, stopped.signal])
  // Every course may listen to it.
  setMaxListeners(0, stopping)
  // What the stop leaves under way will use its gas in the next process.
  const courses = createCourses((course) => {
    const receipt = course.current()
    if (isFinal(receipt)) admission.end(receipt.digest, course.purpose, receipt.status === 'confirmed')
  })
  const resume = (record: RelayRecord) => resumeCourse(courseDeps, record)
  const reopen = createReopening({ store, courses, resume, stopping, logger })
  const courseDeps = { ...deps, stopping, reopen }
  const stored = createStoredReceipts({ store, chain, resume })
  const begin = createBeginning(courseDeps, stored)
  const recovered = createDeferred<void>()

  async function recover(): Promise<void> {
    const unfinished = await store.unfinished()
    for (const record of unfinished) {
      void courses.register(record.receipt.digest, Promise.resolve(resume(record)))
    }
    logger.info('unfinished authorizations taken up', { count: unfinished.length })
  }

  async function findStored(digest: Hex): Promise<Receipt | undefined> {
    const record = await store.get(digest)
    if (record === undefined) return undefined
    const { receipt } = record
    const isUsed = await chain.isUsed(receipt.target, digest)
    if (isUsed === (receipt.status === 'confirmed') && (await stored.isTrue(record))) return receipt
    if (!isUsed) return undefined
    // Another may have ended it meanwhile.
    const accept = async () => stored.acceptEffect((await store.get(digest)) ?? record)
    const course = await (courses.of(digest) ?? courses.register(digest, accept()))
    return course.current()
  }

  return {
    async post(authorization) {
      await recovered.promise
      const joined = courses.of(authorization.digest)
      if (joined !== undefined) return joined
      if (courses.count() >= deps.maxUnderWay) throw new Problem('relay-overloaded')
      return courses.register(authorization.digest, begin(authorization))
    },
    async find(digest) {
      await recovered.promise
      const course = await courses.of(digest)?.catch(() => undefined)
      return course === undefined ? findStored(digest) : course.current()
    },
    underWay: courses.count,
    service: {
      name: 'relay',
      async start() {
        await recover()
        recovered.resolve()
      },
      async stop() {
        stopped.abort()
        await courses.ended()
      },
    },
  }
}

/** Checks an authorization that nobody relays yet, and sets it on its course. */
function createBeginning(deps: CourseDeps, stored: StoredReceipts) {
  const { store, chain, preflight, admission } = deps
  return async (authorization: VerifiedAuthorization): Promise<Course> => {
    const { digest, target, data, purpose } = authorization
    const [cached, forecast, funds] = await Promise.all([
      store.get(digest),
      preflight.check({ to: target, data }),
      admission.funds(),
    ])
    const record = pendingRecord(authorization, new Date(), cached?.transactions)
    if ('revert' in forecast) {
      // What has taken effect reverts too: its digest is used up. A node that trails may not know of that.
      const isUsed = isOfUsedDigest(forecast.revert) || (await chain.isUsed(target, digest))
      if (isUsed) return stored.acceptEffect(cached ?? record)
      throw new Problem('would-revert', { extensions: { revert: forecast.revert } })
    }
    await admission.admit(digest, purpose, forecast.gasLimit, funds)
    try {
      return await startCourse(deps, record, forecast.gasLimit)
    } catch (error) {
      admission.end(digest, purpose, false)
      throw error
    }
  }
}
