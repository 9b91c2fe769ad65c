import { setMaxListeners } from 'node:events'
import { isOfUsedDigest } from '../../chain/reverts.js'
import type { Hex } from '../../protocol/hex.js'
import { isOpening } from '../../protocol/postedOpening.js'
import { isFinal, type RelayedType } from '../../protocol/relayReceipt.js'
import { describeError } from '../../service/logger.js'
import { pause } from '../../service/waiting.js'
import { storageError } from '../store/engine.js'
import type { ReceiptStore, RelayRecord, StoredRelay } from '../store/receipts.js'
import { RelayRefusal, type VerifiedAuthorization } from './authorization.js'
import type { ChainView } from './chainView.js'
import type { Forecast } from './preflight.js'
import {
  assignedTo,
  awaitingDepth,
  confirmed,
  pendingRecord,
  reopened,
  SupersededError,
  withLimit,
} from './record.js'
import { endedJob, PAUSE_MS, type RelayJob, type RelayJobDeps, startJob } from './relayJob.js'

/** Relays authorizations that the enclave signed with one account, for one term of its lease. */
export type Relay = ReturnType<typeof createRelay>

export function createRelay(
  deps: Omit<RelayJobDeps, 'reopen'> & {
    /** Its writes have the term of the account's lease. */
    readonly store: ReceiptStore
    readonly account: Hex
  },
) {
  const { store, account, chain, preflight, admission, budget, logger } = deps
  const stopped = new AbortController()
  const stopping = AbortSignal.any([deps.stopping, stopped.signal])
  // Every job may listen to it.
  setMaxListeners(0, stopping)
  const jobDeps = { ...deps, stopping, reopen }
  const jobs = createJobs((job) => admission.forget(job.current().digest))

  /** Stores the next version of a record that no job is under way for. */
  async function replace(
    record: RelayRecord,
    before: StoredRelay | undefined,
    bookable?: bigint,
  ): Promise<StoredRelay> {
    if (!(await budget.put(record, before, bookable))) throw new SupersededError()
    return { record, version: (before?.version ?? 0) + 1 }
  }

  async function resume(stored: StoredRelay): Promise<RelayJob> {
    return startJob(jobDeps, await replace(assignedTo(stored.record, account), stored))
  }

  /** @param record the stored one, or else a new one */
  async function accept(record: RelayRecord, stored: StoredRelay | undefined): Promise<RelayJob> {
    const next = await afterEffect(chain, assignedTo(record, account))
    if (next === undefined) return endedJob(record)
    const put = await replace(next, stored)
    return isFinal(next.receipt) ? endedJob(next) : startJob(jobDeps, put)
  }

  /** Checks an authorization that this server does not have under way, and starts its job. */
  async function begin(authorization: VerifiedAuthorization): Promise<RelayJob> {
    const { digest, target, data } = authorization
    const [stored, forecast, funds] = await Promise.all([
      store.find(digest),
      preflight.check({ to: target, data }),
      admission.funds(),
    ])
    if (stored !== undefined && !isFinal(stored.record.receipt)) {
      // A record without an account goes to one that can pay.
      if (stored.record.account !== account) throw new SupersededError()
      return resume(stored)
    }
    const record = pendingRecord(authorization, account, stored?.record)
    const gasLimit = await gasLimitIn(forecast, authorization, chain)
    if (gasLimit === undefined) return accept(stored?.record ?? record, stored)
    const put = await admission.admit(digest, gasLimit, funds, (bookable) =>
      replace(withLimit(record, gasLimit), stored, bookable),
    )
    return startJob(jobDeps, put, gasLimit)
  }

  async function putBack(digest: Hex): Promise<RelayJob> {
    const stored = await store.find(digest)
    if (stored === undefined) throw storageError('RECORD_MISSING')
    const { record } = stored
    // Another account has relayed it since.
    if (record.account !== account) return endedJob(record)
    const next = isFinal(record.receipt) ? reopened(record) : record
    const put = await replace(next, stored)
    logger.warn('transaction put back', { digest, txHash: record.receipt.txHash })
    return startJob(jobDeps, put)
  }

  /**
   * Reopens an authorization whose transaction a reorganization removed, and sends it again where no pool has kept it. A failed
   * write of the record is retried until the term ends.
   */
  function reopen(digest: Hex): void {
    if (stopping.aborted) return
    const current = jobs.of(digest)
    if (current !== undefined) {
      const again = () => reopen(digest)
      current.then((job) => job.end).then(again, again)
      return
    }
    jobs.register(digest, putBack(digest)).catch(async (error: unknown) => {
      logger.warn('transaction not put back yet', { digest, ...describeError(error) })
      await pause(PAUSE_MS, stopping)
      reopen(digest)
    })
  }

  function registerStored({ record: { receipt } }: StoredRelay, begun: Promise<RelayJob>): Promise<RelayJob> {
    return jobs.register(receipt.digest, begun, receipt.primaryType)
  }

  async function recover(): Promise<void> {
    const unfinished = await store.unfinished()
    const own = unfinished.filter(({ record }) => record.account === account)
    for (const stored of own) void registerStored(stored, Promise.resolve(startJob(jobDeps, stored)))
    logger.info('unfinished authorizations resumed', { count: own.length })
  }

  return {
    of: jobs.of,
    /**
     * Begins to relay an authorization that this server does not have under way. Spends no gas on one that is effective.
     *
     * @throws RelayRefusal, StorageError: nothing was signed or stored then. SupersededError, ChainUnavailableError
     */
    begin: (authorization: VerifiedAuthorization) =>
      jobs.register(authorization.digest, begin(authorization), authorization.primaryType),
    /** Resumes a stored record that is not final and not under way here. @throws StorageError, SupersededError */
    claim: (stored: StoredRelay) => registerStored(stored, resume(stored)),
    /**
     * Resumes a stored record whose authorization is effective. Confirms it once the effect is deep enough.
     * @throws StorageError, ChainUnavailableError, SupersededError
     */
    acceptEffect: (stored: StoredRelay) => registerStored(stored, accept(stored.record, stored)),
    /** How many openings and other authorizations are under way, in any state. */
    underWay: jobs.counts,
    /** Its start resumes the unfinished work of the account's earlier terms. */
    service: {
      name: 'relay',
      start: recover,
      async stop() {
        stopped.abort()
        await jobs.ended()
      },
    },
  }
}

/**
 * The jobs under way, one for each digest at most.
 * @param onEnd called with each that has ended, or is deferred to the next process
 */
function createJobs(onEnd: (job: RelayJob) => void) {
  const underWay = new Map<Hex, Promise<RelayJob>>()
  const openings = new Set<Hex>()
  return {
    of: (digest: Hex) => underWay.get(digest),
    /** Call it before awaiting anything, so that the next caller joins. */
    register(digest: Hex, begun: Promise<RelayJob>, type?: RelayedType): Promise<RelayJob> {
      underWay.set(digest, begun)
      if (type !== undefined && isOpening(type)) openings.add(digest)
      const forget = () => {
        underWay.delete(digest)
        openings.delete(digest)
      }
      const ended = begun.then((job) => job.end.then(() => job))
      ended.then((job) => {
        forget()
        onEnd(job)
      }, forget)
      return begun
    },
    counts() {
      const all = underWay.size
      return { all, openings: openings.size, others: all - openings.size }
    },
    ended: () => Promise.allSettled([...underWay.values()].map(async (begun) => (await begun).end)),
  }
}

/**
 * The gas limit of a call that was checked; undefined where it is effective already and therefore reverts. A node that trails may not know
 * that its digest is used.
 * @throws RelayRefusal `would-revert`; ChainUnavailableError, ChainAnswerError
 */
export async function gasLimitIn(
  forecast: Forecast,
  authorization: VerifiedAuthorization,
  chain: ChainView,
): Promise<bigint | undefined> {
  if ('gasLimit' in forecast) return forecast.gasLimit
  if (isOfUsedDigest(forecast.revert) || (await chain.isUsed(authorization))) return undefined
  throw new RelayRefusal({ code: 'would-revert', revert: forecast.revert })
}

/**
 * Whether a record's transaction is in the block that its receipt names. A chain that was reset does not know an earlier
 * transaction, or has it elsewhere. A receipt of another party's effect holds as long as none of its own transactions is found.
 * @throws ChainUnavailableError
 */
export async function matchesChain(chain: ChainView, record: RelayRecord): Promise<boolean> {
  const { status, txHash, blockNumber } = record.receipt
  if (status === 'confirmed' && txHash === null) return (await chain.effectOf(record)) === null
  if (txHash === null || blockNumber === null) return true
  const now = await chain.whereIs(txHash)
  if (now.blockNumber !== null) return now.blockNumber === blockNumber
  // A node that is behind disproves no effect, nor does one that cannot find old transactions.
  return (status === 'confirmed' && now.head < blockNumber) || chain.isIn(blockNumber, txHash)
}

/**
 * The next record of an effective authorization: confirmed once the effect is deep enough. Undefined for a record
 * that is confirmed already. @throws ChainUnavailableError
 */
export async function afterEffect(chain: ChainView, record: RelayRecord): Promise<RelayRecord | undefined> {
  const { digest, target, status } = record.receipt
  if (status === 'confirmed' && (await matchesChain(chain, record))) return undefined
  const isDeep = await chain.isDeep({ digest, target, data: record.data })
  return isDeep ? confirmed(record, await chain.effectOf(record)) : awaitingDepth(record)
}
