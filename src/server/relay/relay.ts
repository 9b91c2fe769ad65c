import { setMaxListeners } from 'node:events'
import { isOfUsedDigest } from '../../chain/reverts.js'
import { isFinal, type Receipt } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { describeError, type Logger } from '../../service/logger.js'
import { createDeferred } from '../async/deferred.js'
import { Problem } from '../http/problems.js'
import type { Service } from '../lifetime.js'
import type { ReceiptStore, RelayRecord } from '../store/receipts.js'
import type { VerifiedAuthorization } from './authorization.js'
import type { ChainView } from './chainView.js'
import { awaitingDepth, confirmed, pendingRecord, reopened } from './record.js'
import { endedJob, pause, type RelayJob, type RelayJobDeps, resumeJob, startJob } from './relayJob.js'

export interface RelayDeps extends Omit<RelayJobDeps, 'reopen'> {
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
  post(authorization: VerifiedAuthorization): Promise<RelayJob>
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
  // Every job may listen to it.
  setMaxListeners(0, stopping)
  // What the stop leaves under way will use its gas in the next process.
  const jobs = createJobs((job) => {
    const receipt = job.current()
    if (isFinal(receipt)) admission.end(receipt.digest, job.purpose, receipt.status === 'confirmed')
  })
  const resume = (record: RelayRecord) => resumeJob(jobDeps, record)
  const reopen = createReopening({ store, jobs, resume, stopping, logger })
  const jobDeps = { ...deps, stopping, reopen }
  const stored = createStoredReceipts({ store, chain, resume })
  const begin = createBeginning(jobDeps, stored)
  const recovered = createDeferred<void>()

  async function recover(): Promise<void> {
    const unfinished = await store.unfinished()
    for (const record of unfinished) {
      void jobs.register(record.receipt.digest, Promise.resolve(resume(record)))
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
    const job = await (jobs.of(digest) ?? jobs.register(digest, accept()))
    return job.current()
  }

  return {
    async post(authorization) {
      await recovered.promise
      const joined = jobs.of(authorization.digest)
      if (joined !== undefined) return joined
      if (jobs.count() >= deps.maxUnderWay) throw new Problem('relay-overloaded')
      return jobs.register(authorization.digest, begin(authorization))
    },
    async find(digest) {
      await recovered.promise
      const job = await jobs.of(digest)?.catch(() => undefined)
      return job === undefined ? findStored(digest) : job.current()
    },
    underWay: jobs.count,
    service: {
      name: 'relay',
      async start() {
        await recover()
        recovered.resolve()
      },
      async stop() {
        stopped.abort()
        await jobs.ended()
      },
    },
  }
}

/** Checks an authorization that nobody relays yet, and starts its job. */
function createBeginning(deps: RelayJobDeps, stored: StoredReceipts) {
  const { store, chain, preflight, admission } = deps
  return async (authorization: VerifiedAuthorization): Promise<RelayJob> => {
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
      return await startJob(deps, record, forecast.gasLimit)
    } catch (error) {
      admission.end(digest, purpose, false)
      throw error
    }
  }
}

/** The jobs under way, one for each digest at most. */
export interface RelayJobs {
  of(digest: Hex): Promise<RelayJob> | undefined
  /** To be called before anything is awaited, so that whoever comes next joins. */
  register(digest: Hex, begun: Promise<RelayJob>): Promise<RelayJob>
  count(): number
  /** Resolves when all that are under way now have ended. */
  ended(): Promise<void>
}

/** @param onEnd called with each that has ended, or was left for the next process */
export function createJobs(onEnd: (job: RelayJob) => void): RelayJobs {
  const underWay = new Map<Hex, Promise<RelayJob>>()
  return {
    of: (digest) => underWay.get(digest),
    register(digest, begun) {
      underWay.set(digest, begun)
      const forget = () => underWay.delete(digest)
      const ended = begun.then((job) => job.end.then(() => job))
      ended.then((job) => {
        forget()
        onEnd(job)
      }, forget)
      return begun
    },
    count: () => underWay.size,
    async ended() {
      const begun = await Promise.allSettled(underWay.values())
      await Promise.all(begun.map((job) => (job.status === 'fulfilled' ? job.value.end : undefined)))
    },
  }
}

export interface ReopeningDeps {
  readonly store: Pick<ReceiptStore, 'get' | 'put'>
  readonly jobs: RelayJobs
  /** Takes up a record that is on disk. */
  readonly resume: (record: RelayRecord) => RelayJob
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  readonly logger: Logger
}

/**
 * For an authorization whose transaction a reorganization took back: it is followed again, and sent again where no pool
 * has kept it. A record that can't be written, as the disk fails, is tried again until the server stops.
 */
export function createReopening(deps: ReopeningDeps): (digest: Hex) => void {
  const { store, jobs, stopping, logger } = deps

  async function open(digest: Hex): Promise<RelayJob> {
    const record = await store.get(digest)
    if (record === undefined) throw new Problem('receipt-not-found')
    const next = reopened(record, new Date())
    await store.put(digest, next)
    logger.warn('transaction put back', { digest, txHash: record.receipt.txHash })
    return deps.resume(next)
  }

  function reopen(digest: Hex): void {
    if (stopping.aborted) return
    const current = jobs.of(digest)
    if (current !== undefined) {
      const again = () => reopen(digest)
      current.then((job) => job.end).then(again, again)
      return
    }
    jobs.register(digest, open(digest)).catch(async (error: unknown) => {
      logger.warn('transaction not put back yet', { digest, ...describeError(error) })
      await pause(stopping)
      reopen(digest)
    })
  }

  return reopen
}

export interface StoredReceiptsDeps {
  readonly store: Pick<ReceiptStore, 'put'>
  readonly chain: ChainView
  /** Takes up a record that is on disk. */
  readonly resume: (record: RelayRecord) => RelayJob
}

/** Holds what is stored of an authorization against the chain. Every method rejects with ChainUnavailableError. */
export interface StoredReceipts {
  /**
   * Whether its transaction is where its receipt says. A chain that was reset knows nothing of one of before, or has it
   * elsewhere. What says that somebody else brought it about is true as long as none of its own transactions is found.
   */
  isTrue(record: RelayRecord): Promise<boolean>
  /**
   * Of what the chain says has taken effect, whatever was thought of it before. It is confirmed once it is deep enough.
   * @throws StorageError
   */
  acceptEffect(record: RelayRecord): Promise<RelayJob>
}

export function createStoredReceipts({ store, chain, resume }: StoredReceiptsDeps): StoredReceipts {
  async function isTrue(record: RelayRecord): Promise<boolean> {
    const { status, txHash, blockNumber } = record.receipt
    if (status === 'confirmed' && txHash === null) return (await chain.effectOf(record)) === null
    if (txHash === null || blockNumber === null) return true
    const now = await chain.whereIs(txHash)
    if (now.blockNumber !== null) return now.blockNumber === blockNumber
    // A node that trails does not deny an effect, nor does one that finds no old transactions.
    return (status === 'confirmed' && now.head < blockNumber) || chain.isIn(blockNumber, txHash)
  }

  return {
    isTrue,
    async acceptEffect(record) {
      const { digest, target, status } = record.receipt
      if (status === 'confirmed' && (await isTrue(record))) return endedJob(record)
      const isDeep = await chain.isDeep(target, digest)
      const next = isDeep
        ? confirmed(record, await chain.effectOf(record), new Date())
        : awaitingDepth(record, new Date())
      await store.put(digest, next)
      return isDeep ? endedJob(next) : resume(next)
    },
  }
}
