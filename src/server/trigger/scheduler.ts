import type { TriggerReason } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { FINAL_OUTCOMES, type Outcome, type WaitReason } from '../../protocol/job.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { OpenedOrder } from '../escrow/escrowLogs.js'
import { StorageError } from '../store/engine.js'
import {
  type Candidate,
  matchingCandidate,
  type OrderRecord,
  type OrderRecords,
} from '../store/orderRecords.js'
import { createOrderQueue, isDue, monotonic, type TrackedOrder } from './orderQueue.js'
import { type EndedOrderRun, failuresAtEnd } from './orderRun.js'
import type { AdoptedRun, ShownOutcome } from './runner.js'
import { createWorkers, type WorkersOptions } from './workers.js'

/**
 * Decides which order runs when, from chain events, envelopes and results. An order whose record fails is deferred with its
 * account; other accounts go on.
 */
export type Scheduler = ReturnType<typeof createScheduler>

/** In place of the commit of a cancel. */
const UNREAD: Hex = '0x'

interface SchedulerOptions extends Omit<WorkersOptions, 'queue' | 'onEnded'> {
  readonly records: OrderRecords
  /** Called when a run reports that its escrow has ended. */
  readonly onFinal: () => void
}

export function createScheduler(options: SchedulerOptions) {
  const { records, onFinal, logger } = options
  const deferred = createDeferredUpdates(logger)
  const queue = createOrderQueue(deferred.suspended)
  /** The commits of open cancels by order. */
  const cancels = new Map<Hex, Hex>()
  /** Versions of the records in which idle orders had no envelope. */
  let versions = new Map<Hex, number | undefined>()
  const workers = createWorkers({ ...options, queue, onEnded })
  const { attempt } = deferred

  async function onEnded(
    order: TrackedOrder,
    { outcome, next, nextTriggerAt }: EndedOrderRun,
  ): Promise<void> {
    if (isConcluded(order)) {
      await attempt({ order, state: order.state }, () => conclude(order))
      return
    }
    const reason = reasonToRerun(order, outcome)
    order.envelopeCame = false
    order.cancelCame = false
    if (reason !== undefined) {
      workers.schedule(order, performance.now(), reason)
    } else {
      workers.schedule(order, next, 'retry', nextTriggerAt)
      if (FINAL_OUTCOMES.has(outcome)) onFinal()
    }
  }

  async function conclude(order: TrackedOrder): Promise<void> {
    workers.schedule(order, null, 'retry')
    // An order that ended without a run has no history, and any client may post envelopes under its id.
    await records.removeUnrun(order.orderId)
    await records.finish(order.orderId)
    queue.forget(order.orderId)
  }

  async function close(order: TrackedOrder, state: 'SETTLED' | 'REFUNDED'): Promise<void> {
    const isNews = order.state !== state
    order.state = state
    // The enclave may hold an order that was reclaimed.
    if (order.running && state === 'REFUNDED') workers.offerAgain(order)
    if (order.running) return
    if (isConcluded(order)) await conclude(order)
    else if (isNews || order.dueAt === null) workers.schedule(order, performance.now(), 'reclaimed')
  }

  /** Runs an order for its new envelope, unless it has run with one already. */
  function receive(order: TrackedOrder, commit: Hex | undefined): void {
    if (order.state !== 'OPEN' || commit !== order.commit) return
    order.envelopeCame = order.running
    // An open order with a final outcome: a reorganization removed the block of its end.
    const isNew = order.lastOutcome === null || FINAL_OUTCOMES.has(order.lastOutcome)
    if (isNew && !order.running && order.dueAt === null)
      workers.schedule(order, performance.now(), 'received')
  }

  /** Runs an order for its cancel. A cancel that replaces another starts a run only where that one was rejected: runs cost. */
  function cancel(order: TrackedOrder): void {
    const commit = cancels.get(order.orderId)
    if (commit === order.cancelCommit) return
    const isFirst = order.cancelCommit === undefined
    order.cancelCommit = commit
    order.cancelCame = order.running
    if (order.state !== 'OPEN' || order.running) return
    if (!isFirst && order.lastOutcome !== 'rejected') return
    const now = performance.now()
    // One that is due may have been held back by orders that it passes from now on.
    workers.schedule(order, now, isDue(order, now) ? order.reason : 'retry')
  }

  async function readCancels(): Promise<void> {
    for (const orderId of await records.cancels.openIds()) {
      const wasRejected = queue.get(orderId)?.lastOutcome === 'rejected'
      if (!cancels.has(orderId) || wasRejected) cancelled(orderId, await commitOfCancel(orderId))
    }
  }

  /** An order whose cancel cannot be read does not run without it: its start fails. */
  async function commitOfCancel(orderId: Hex): Promise<Hex> {
    const kept = await records.cancels.get(orderId).catch(() => undefined)
    return kept?.commit ?? UNREAD
  }

  function cancelled(orderId: Hex, commit: Hex): boolean {
    cancels.set(orderId, commit)
    const order = queue.get(orderId)
    if (order !== undefined) cancel(order)
    return order !== undefined
  }

  async function closeCancel(orderId: Hex): Promise<void> {
    await records.cancels.close(orderId)
    cancels.delete(orderId)
  }

  /** Tracks the order, with the history in its record when it is new. */
  function track(opened: OpenedOrder, record: OrderRecord | undefined): TrackedOrder {
    const isNew = queue.get(opened.orderId) === undefined
    const order = queue.track(opened)
    if (!isNew) return order
    order.running = workers.isAdopted(order.orderId)
    if (record === undefined) return order
    order.failures = failuresAtEnd(record.triggers)
    const last = record.triggers.at(-1)
    order.lastOutcome = last?.outcome ?? null
    order.waitsFor = last?.waitsFor
    order.mayBeHeld = record.triggers.length > 0
    return order
  }

  async function open(opened: OpenedOrder): Promise<void> {
    const order = track(opened, undefined)
    order.state = 'OPEN'
    const record = await records.get(opened.orderId)
    const envelope = matchingCandidate(record, opened.commit)
    receive(order, envelope?.commit)
    if (workers.isAdopted(opened.orderId)) await offerAgain(order, envelope)
    cancel(order)
  }

  /** Offers an earlier server's run again: that server may have lost the database before an enclave answered. */
  async function offerAgain(order: TrackedOrder, envelope: Candidate | undefined): Promise<void> {
    const kept = cancels.has(order.orderId) ? await records.cancels.get(order.orderId) : undefined
    workers.offerAgain(order, envelope?.envelope, kept?.envelope)
  }

  async function readEnvelopes(): Promise<void> {
    const idle = queue.awaitingEnvelope()
    versions = new Map(idle.map(({ orderId }) => [orderId, versions.get(orderId)]))
    if (idle.length === 0) return
    for (const { version, record } of await records.newer(versions)) {
      const { orderId } = record
      versions.set(orderId, version)
      const order = queue.get(orderId)
      if (order !== undefined) receive(order, matchingCandidate(record, order.commit)?.commit)
    }
  }

  async function resume(opened: OpenedOrder): Promise<void> {
    const record = await records.get(opened.orderId)
    const order = track(opened, record)
    // A reorganization may have removed its end.
    order.state = 'OPEN'
    const envelope = matchingCandidate(record, opened.commit)
    if (order.running) {
      // A run that began without it ends as `rejected`.
      order.envelopeCame = envelope !== undefined
      await offerAgain(order, envelope)
    } else {
      order.mayBeHeld ||= envelope === undefined
      const reason = envelope === undefined ? 'recovered' : 'restart'
      const next = record?.nextTriggerAt ?? null
      const waitsUntil = next === null ? null : Date.parse(next)
      workers.schedule(order, dueAtStart(order, record), reason, waitsUntil)
    }
    cancel(order)
  }

  async function reclaim(opened: OpenedOrder): Promise<void> {
    const record = await records.get(opened.orderId)
    const order = track(opened, record)
    order.mayBeHeld ||= record === undefined
    await close(order, 'REFUNDED')
  }

  function find(orderId: Hex): (OpenedOrder & Pick<TrackedOrder, 'state' | 'running'>) | undefined {
    const change = deferred.find(orderId)
    if (change === undefined) return queue.get(orderId)
    const running = queue.get(orderId)?.running ?? workers.isAdopted(orderId)
    return { ...change.order, state: change.state, running }
  }

  return {
    name: 'scheduler',
    async start() {},
    stop: () => workers.stop(),
    /** Follows a run that an earlier server left: its account waits for it. Before `release`. */
    adopt: (run: AdoptedRun) => workers.adopt(run),
    /** Every order that was open at the start is known, so runs may begin. */
    release: () => workers.release(),
    /** The chain shows that a run of the order, if one is under way, has ended it. Before `closed`. */
    seenOnChain: (orderId: Hex, outcome: ShownOutcome) => workers.seenOnChain(orderId, outcome),
    /** Call it after each poll of the chain: retries deferred updates, and starts what is due by now. */
    async retry() {
      for (const { change, action } of deferred.all()) await attempt(change, action)
      workers.check()
    },
    /** Reads envelopes that other servers have stored for open orders. @throws StorageError */
    readEnvelopes,
    /** Reads cancels of orders, whichever server has stored them. @throws StorageError */
    readCancels,
    /** Orders with an open cancel that are not tracked: they have ended, or their opening has not been seen yet. */
    untrackedCancels: () => [...cancels.keys()].filter((orderId) => queue.get(orderId) === undefined),
    /** The order has ended without having been tracked. @throws StorageError */
    closeCancel,
    /** A cancel was stored; its order runs with it, immediately or after the run under way. False when the order is not tracked. */
    cancelled,
    /** Runs the orders that wait for the market if it is open, perhaps before its announced time. Asks only if any does. */
    async checkMarket(isOpen: () => Promise<boolean>) {
      const waiting = () => queue.awaitingMarket(performance.now())
      if (waiting().length === 0 || !(await isOpen())) return
      for (const order of waiting()) workers.schedule(order, performance.now(), 'retry')
    },
    /** The order, while it is tracked. */
    find,
    depth: () => queue.depth(performance.now()),
    /** An escrow is open; it runs if its envelope is here. Repeatable. */
    opened(order: OpenedOrder) {
      // After a deferral the record may hold runs of the order.
      const handle = deferred.find(order.orderId) === undefined ? open : resume
      return attempt({ order, state: 'OPEN' }, () => handle(order))
    },
    /** Runs an order that the start finds open on the chain, with its envelope or without. */
    resume: (order: OpenedOrder) => attempt({ order, state: 'OPEN' }, () => resume(order)),
    /** Like `closed`, for an escrow that may have been reclaimed: without a record the enclave may still hold the order. */
    reclaimed: (order: OpenedOrder) => attempt({ order, state: 'REFUNDED' }, () => reclaim(order)),
    /** An escrow has ended. An order that the enclave has begun and not finished runs once more. Repeatable. */
    closed(order: OpenedOrder, state: 'SETTLED' | 'REFUNDED') {
      const isUnsure = state === 'REFUNDED' && deferred.find(order.orderId) !== undefined
      return attempt({ order, state }, async () => {
        if (isUnsure) return reclaim(order)
        await close(track(order, await records.get(order.orderId)), state)
      })
    },

    /** An envelope was stored; it runs if its escrow is open. False when that escrow is not known yet. */
    stored(orderId: Hex, commit: Hex): boolean {
      const order = queue.get(orderId)
      if (order !== undefined) receive(order, commit)
      return order !== undefined
    },
  }
}

/** The operator may have raised these before the start. */
const LIMITS: ReadonlySet<WaitReason | undefined> = new Set([
  'relay-quota-exhausted',
  'relay-budget-exhausted',
])

/**
 * Immediately, except for an order that waits at the broker or for the market: it keeps its time. An end in the future shows
 * that the system clock was set back: then the wait begins again.
 */
function dueAtStart({ lastOutcome, waitsFor }: TrackedOrder, record: OrderRecord | undefined): number {
  const now = Date.now()
  const isWaiting = lastOutcome === 'queued' || lastOutcome === 'placed'
  const next = record?.nextTriggerAt ?? null
  if (!isWaiting || next === null || LIMITS.has(waitsFor)) return performance.now()
  const endedAt = Date.parse(record?.triggers.at(-1)?.finishedAt ?? next)
  const setBackBy = Math.max(0, endedAt - now)
  return monotonic(Math.max(now, Date.parse(next) - setBackBy))
}

/** Why an order runs again immediately: an envelope or a cancel came during a run that did not have it. */
function reasonToRerun(order: TrackedOrder, outcome: Outcome): TriggerReason | undefined {
  if (order.cancelCame && (outcome === 'rejected' || !FINAL_OUTCOMES.has(outcome))) return 'retry'
  return order.envelopeCame && outcome === 'rejected' ? 'received' : undefined
}

/**
 * An ended escrow needs no further run once the enclave reports the end, or can't hold the order. Only the enclave
 * settles.
 */
function isConcluded({ state, lastOutcome, mayBeHeld }: TrackedOrder): boolean {
  if (state !== 'REFUNDED') return state === 'SETTLED'
  return !mayBeHeld || (lastOutcome !== null && FINAL_OUTCOMES.has(lastOutcome))
}

/** An order, with the state that its escrow is now in. */
interface EscrowChange {
  readonly order: OpenedOrder
  readonly state: TrackedOrder['state']
}

/** Chain events whose order record could not be read or written; retried later. */
function createDeferredUpdates(logger: Logger) {
  const updates = new Map<Hex, { readonly change: EscrowChange; readonly action: () => Promise<void> }>()
  return {
    /**
     * Applies the latest change of an escrow, now or by a later `attempt`. Until then its account is suspended, to keep its orders in
     * their order, unless the order is settled. Rejects only with errors other than StorageError.
     */
    async attempt(change: EscrowChange, action: () => Promise<void>): Promise<void> {
      const { orderId } = change.order
      try {
        await action()
        if (updates.delete(orderId)) logger.info('order resumed', { recordId: orderId })
      } catch (error) {
        if (!(error instanceof StorageError)) throw error
        if (!updates.has(orderId))
          logger.error('order deferred: its record fails', { recordId: orderId, ...describeError(error) })
        updates.set(orderId, { change, action })
      }
    },
    /** The change whose update is deferred. */
    find: (orderId: Hex) => updates.get(orderId)?.change,
    all: () => [...updates.values()],
    /** The accounts that wait. */
    suspended: () =>
      new Set(
        [...updates.values()].flatMap(({ change }) =>
          change.state === 'SETTLED' ? [] : [change.order.account],
        ),
      ),
  }
}
