import type { Hex } from '../../protocol/hex.js'
import { isOpening } from '../../protocol/postedOpening.js'
import { isFinal, type Receipt, type RelayedType } from '../../protocol/relayReceipt.js'
import { createPoller } from '../../service/lifetime.js'
import { describeError, type Logger } from '../../service/logger.js'
import { pause } from '../../service/waiting.js'
import { noteUse } from '../limitUse.js'
import { StorageError, storageError } from '../store/engine.js'
import type { ReceiptStore, StoredRelay } from '../store/receipts.js'
import type { RelayerAccount, RelayTerm } from './account.js'
import { RelayRefusal, type VerifiedAuthorization } from './authorization.js'
import type { ChainView } from './chainView.js'
import type { GasBudget } from './gasBudget.js'
import type { Preflight } from './preflight.js'
import { pendingRecord, SupersededError, withLimit } from './record.js'
import { afterEffect, gasLimitIn, matchesChain } from './relay.js'
import { endedJob, type RelayJob } from './relayJob.js'

/** The relay of the whole server: accepts authorizations, whichever server serves the account, and finds their receipts. */
export type RelayDispatcher = ReturnType<typeof createRelayDispatcher>

const KINDS = ['openings', 'others'] as const
type Kind = (typeof KINDS)[number]

const kindOf = (type: RelayedType): Kind => (isOpening(type) ? 'openings' : 'others')

/** Pause between two searches for authorizations that another server did not finish. */
const CLAIM_EVERY_MS = 250
const SEARCH_EVERY_MS = 30_000
/** Pauses between two reads of a record that another server writes, from the first to the longest. */
const [FIRST_POLL_MS, LONGEST_PAUSE_MS] = [250, 1_000]

export function createRelayDispatcher(options: {
  readonly account: RelayerAccount
  /** Its writes have no fence. */
  readonly store: ReceiptStore
  readonly chain: ChainView
  readonly preflight: Preflight
  readonly budget: Pick<GasBudget, 'put' | 'assertRoom' | 'endOld' | 'refresh'>
  /** Whether the account's balance exceeds `RELAY_MIN_BALANCE`, as of some seconds ago. @throws ChainUnavailableError */
  readonly isFunded: () => Promise<boolean>
  /**
   * Authorizations that the account has under way at once, those without a transaction included. Openings have room of their own: a
   * minute of them must not shut out writes that advance orders written ahead.
   */
  readonly room: Readonly<Record<Kind, number>>
  readonly waitMs: number
  /** Pause between two searches: for open records, also of an account that no server has a key for, and for bookings of orders long over. */
  readonly searchEveryMs?: number | undefined
  readonly stopping: AbortSignal
  readonly logger: Logger
}) {
  const { account, isFunded, store, chain, preflight, budget, room, stopping, logger } = options
  const { searchEveryMs = SEARCH_EVERY_MS, waitMs } = options
  const beginnings = new Map<Hex, Promise<RelayJob>>()
  const { follow, acrossTerms, followed } = createFollowing({ store, waitMs, stopping })
  let searchedAt = Number.NEGATIVE_INFINITY

  const jobOf = (digest: Hex) => account.term()?.relay.of(digest)
  const isUsedUp = (used: number, kind: Kind) => {
    noteUse(`relay-${kind}`, used / room[kind])
    return used >= room[kind]
  }
  const isFull = ({ relay }: RelayTerm, kind: Kind) => isUsedUp(relay.underWay()[kind], kind)
  const assertRoom = (term: RelayTerm, type: RelayedType) => {
    if (isFull(term, kindOf(type))) throw new RelayRefusal({ code: 'relay-overloaded' })
  }

  async function joinOrBegin(authorization: VerifiedAuthorization): Promise<RelayJob> {
    const { digest, primaryType } = authorization
    // A job that could not be resumed here begins like any other.
    const job = await jobOf(digest)?.catch(() => undefined)
    if (job !== undefined) return acrossTerms(digest, job)
    const term = account.term()
    if (term !== undefined) {
      assertRoom(term, primaryType)
      try {
        return acrossTerms(digest, await term.relay.begin(authorization))
      } catch (error) {
        if (error instanceof SupersededError) return follow(digest)
        // This server's term of the account is over.
        if (!(error instanceof StorageError && error.code === 'LEASE_LOST')) throw error
      }
    }
    if (!(await isFunded())) throw new RelayRefusal({ code: 'relayer-underfunded' })
    return handOver(authorization)
  }

  /** Stores an authorization for the server that serves the account, or soon will. */
  async function handOver(authorization: VerifiedAuthorization): Promise<RelayJob> {
    const { digest, primaryType, target, data } = authorization
    const stored = await store.find(digest)
    if (stored !== undefined && !isFinal(stored.record.receipt)) return follow(digest, stored)
    const kind = kindOf(primaryType)
    if (isUsedUp(followed[kind], kind)) throw new RelayRefusal({ code: 'relay-overloaded' })
    const gasLimit = await gasLimitIn(await preflight.check({ to: target, data }), authorization, chain)
    let pending = pendingRecord(authorization, undefined, stored?.record)
    if (gasLimit === undefined) {
      const record = stored?.record ?? pending
      const next = (await afterEffect(chain, record)) ?? record
      if (isFinal(next.receipt)) return endedJob(next)
    } else {
      pending = withLimit(pending, gasLimit)
    }
    // A conflict means that another server has stored it first.
    await budget.put(pending, stored)
    return follow(digest)
  }

  /** Judged by the chain, which the server of its account may not have asked yet. */
  async function findStored(digest: Hex): Promise<Receipt | undefined> {
    const stored = await store.find(digest)
    if (stored === undefined) return undefined
    const { receipt, data } = stored.record
    if (!isFinal(receipt)) return receipt
    const isUsed = await chain.isUsed({ target: receipt.target, digest, data })
    if (isUsed === (receipt.status === 'confirmed') && (await matchesChain(chain, stored.record)))
      return receipt
    if (!isUsed) return undefined
    const term = account.term()
    if (term === undefined) return ((await afterEffect(chain, stored.record)) ?? stored.record).receipt
    try {
      return (await (jobOf(digest) ?? term.relay.acceptEffect(stored))).current()
    } catch (error) {
      // Another caller has corrected it in between.
      if (error instanceof SupersededError) return (await store.get(digest))?.receipt
      throw error
    }
  }

  function claim(term: RelayTerm, stored: StoredRelay): void {
    const { digest } = stored.record.receipt
    if (jobOf(digest) !== undefined || beginnings.has(digest)) return
    term.relay.claim(stored).catch((error: unknown) => {
      // Another server was faster.
      if (error instanceof SupersededError) return
      logger.warn('authorization not claimed', { digest, ...describeError(error) })
    })
  }

  /** Claims records without an account, as many as there is room for. */
  async function claimFree(free: readonly StoredRelay[]): Promise<void> {
    if (free.length === 0 || !(await isFunded())) return
    for (const stored of free) {
      const term = account.term()
      const kind = kindOf(stored.record.receipt.primaryType)
      if (term !== undefined && !isFull(term, kind)) claim(term, stored)
    }
  }

  /** Claims records for which the account has no job. */
  async function search(): Promise<void> {
    if (performance.now() - searchedAt < searchEveryMs) return
    const open = await store.unfinished()
    const abandoned = await account.areAbandoned(open.flatMap(({ record }) => record.account ?? []))
    searchedAt = performance.now()
    const free: StoredRelay[] = []
    for (const stored of open) {
      const owner = stored.record.account
      const term = account.term()
      if (owner === account.address && term !== undefined) claim(term, stored)
      else if (owner === undefined || abandoned.has(owner)) free.push(stored)
    }
    await claimFree(free)
    await budget.endOld()
    await budget.refresh()
  }

  return {
    /**
     * Begins to relay, or joins the account that does so already. Spends no gas on an authorization that is effective.
     *
     * @throws RelayRefusal, StorageError: nothing was signed or stored then. ChainUnavailableError, ChainAnswerError
     */
    async post(authorization: VerifiedAuthorization): Promise<RelayJob> {
      const { digest } = authorization
      await account.tried
      const beginning =
        beginnings.get(digest) ?? joinOrBegin(authorization).finally(() => beginnings.delete(digest))
      beginnings.set(digest, beginning)
      return beginning
    },
    /**
     * Whether `post` would accept it now. Begins nothing. One that is under way, or effective, passes.
     * @throws as `post`
     */
    async precheck(authorization: VerifiedAuthorization): Promise<void> {
      const { digest, primaryType, target, data } = authorization
      await account.tried
      if (beginnings.has(digest) || jobOf(digest) !== undefined) return
      const stored = await store.find(digest)
      if (stored !== undefined && !isFinal(stored.record.receipt)) return
      const term = account.term()
      if (term !== undefined) assertRoom(term, primaryType)
      const [forecast, canPay] = await Promise.all([preflight.check({ to: target, data }), isFunded()])
      const gasLimit = await gasLimitIn(forecast, authorization, chain)
      if (gasLimit === undefined) return
      if (!canPay) throw new RelayRefusal({ code: 'relayer-underfunded' })
      await budget.assertRoom(withLimit(pendingRecord(authorization), gasLimit))
    },
    /**
     * The receipt of an authorization, undefined when there is none that can be trusted.
     * @throws ChainUnavailableError when no node answers whether it is still true
     */
    async find(digest: Hex): Promise<Receipt | undefined> {
      await account.tried
      const job = await jobOf(digest)?.catch(() => undefined)
      return job === undefined ? findStored(digest) : job.current()
    },
    underWay: () => account.term()?.relay.underWay().all ?? 0,
    service: createPoller({
      name: 'relay-claims',
      intervalMs: CLAIM_EVERY_MS,
      async tick() {
        await account.tried
        const term = account.term()
        if (stopping.aborted || term === undefined) return
        const isFullOf = KINDS.map((kind) => isFull(term, kind))
        if (isFullOf.includes(false)) await claimFree(await store.unclaimed(room.openings + room.others))
        await search()
      },
      logger,
    }),
  }
}

/** Jobs of other servers. */
function createFollowing({
  store,
  waitMs,
  stopping,
}: Pick<Parameters<typeof createRelayDispatcher>[0], 'store' | 'waitMs' | 'stopping'>) {
  const followed = { openings: 0, others: 0 }

  /** Follows an authorization that another server relays, by its stored record, for as long as a caller waits. */
  function followRecord({ record }: StoredRelay): RelayJob {
    let { receipt } = record
    const until = performance.now() + waitMs

    async function poll(): Promise<Receipt> {
      let pauseMs = FIRST_POLL_MS
      while (!isFinal(receipt) && !stopping.aborted && performance.now() < until) {
        await pause(pauseMs, stopping)
        // The next poll may find a store that answers.
        const stored = await store.find(receipt.digest).catch(() => undefined)
        receipt = stored?.record.receipt ?? receipt
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      }
      return receipt
    }

    return { current: () => receipt, end: poll() }
  }

  async function follow(digest: Hex, known?: StoredRelay): Promise<RelayJob> {
    const stored = known ?? (await store.find(digest))
    if (stored === undefined) throw storageError('RECORD_MISSING')
    const job = followRecord(stored)
    const kind = kindOf(stored.record.receipt.primaryType)
    followed[kind]++
    void job.end.then(() => followed[kind]--)
    return job
  }

  /** Follows a job beyond this server's term of the account: another server continues it. */
  function acrossTerms(digest: Hex, job: RelayJob): RelayJob {
    let latest = job
    const end = job.end.then(async (receipt) => {
      if (isFinal(receipt) || stopping.aborted) return receipt
      latest = await follow(digest).catch(() => job)
      return latest.end
    })
    return { current: () => latest.current(), end }
  }

  return { follow, acrossTerms, followed }
}
