import type { EscrowedOrder } from '../../chain/contracts.js'
import type { TriggerReason } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { FINAL_OUTCOMES, type Outcome, type WaitReason } from '../../protocol/outcome.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { OpenedOrder } from '../escrow/escrowLogs.js'
import { StorageError } from '../store/engine.js'
import {
  type Candidate,
  matchingCandidate,
  type OrderRecord,
  type OrderRecords,
} from '../store/orderRecords.js'
import { createOrderQueue, isDue, monotonic, type OrderQueue, type TrackedOrder } from './orderQueue.js'
import { type EndedOrderRun, failuresAtEnd } from './orderRun.js'
import { createWorkers } from './workers.js'

/**
 * Decides which order runs when, from chain events, envelopes and results. An order whose record fails is deferred with its
 * account; other accounts go on.
 */
export type Scheduler = ReturnType<typeof createScheduler>

/** Stands in place of the commit of a cancel. */
const UNREAD: Hex = '0x'

export function createScheduler(
  options: Omit<Parameters<typeof createWorkers>[0], 'queue' | 'onEnded'> & {
    readonly records: OrderRecords
    readonly onFinal: () => void
  },
) {
  const { records, onFinal } = options
  const queue = createOrderQueue()
  const cancels = new Map<Hex, Hex>()
  const readIdle = createIdleReader(records, queue)
  const workers = createWorkers({ ...options, queue, onEnded })
  const attempt = createAttempts(options.logger)

  async function onEnded(
    order: TrackedOrder,
    { outcome, nextTriggerAt, dueAt }: EndedOrderRun,
  ): Promise<void> {
    if (isConcluded(order)) return attempt(order, () => conclude(order))
    const reason = reasonToRerun(order, outcome)
    order.envelopeCame = false
    order.cancelCame = false
    if (reason !== undefined) return workers.schedule(order, reason)
    workers.schedule(order, 'retry', dueAt, nextTriggerAt)
    if (FINAL_OUTCOMES.has(outcome)) onFinal()
  }

  /** Stops where a reorganization has reopened the order. */
  async function conclude(order: TrackedOrder): Promise<void> {
    if (!isConcluded(order)) return
    workers.schedule(order, 'retry', null)
    // An order that ended without a run has no history, and any client may post envelopes under its id.
    await records.removeUnrun(order.orderId)
    if (!isConcluded(order)) return
    await records.finish(order.orderId)
    if (isConcluded(order)) queue.forget(order.orderId)
  }

  /** Runs an order for its new envelope, unless it has run with one already. */
  function receive(order: TrackedOrder, commit: Hex | undefined): void {
    if (order.state !== 'OPEN' || commit !== order.commit) return
    order.envelopeCame = order.running
    // An open order with a final outcome: a reorganization removed the block of its end.
    const isNew = order.lastOutcome === null || FINAL_OUTCOMES.has(order.lastOutcome)
    if (isNew && !order.running && order.dueAt === null) workers.schedule(order, 'received')
  }

  function stored(orderId: Hex, commit: Hex): boolean {
    const order = queue.get(orderId)
    if (order !== undefined) receive(order, commit)
    return order !== undefined
  }

  /** Runs an order for its cancel. A cancel that replaces another starts a run only where that one was rejected: runs cost. */
  function cancel(order: TrackedOrder): void {
    const commit = cancels.get(order.orderId)
    if (!order.isRead || commit === order.cancelCommit) return
    const isFirst = order.cancelCommit === undefined
    order.cancelCommit = commit
    order.cancelCame = order.running
    if (order.state !== 'OPEN' || order.running) return
    if (!isFirst && order.lastOutcome !== 'rejected') return
    // One that is due may have been blocked by orders that it passes from now on.
    workers.schedule(order, isDue(order, performance.now()) ? order.reason : 'retry')
  }

  async function readCancels(): Promise<void> {
    for (const orderId of await records.cancels.openIds()) {
      const wasRejected = queue.get(orderId)?.lastOutcome === 'rejected'
      if (!cancels.has(orderId) || wasRejected) cancelled(orderId, await commitOfCancel(records, orderId))
    }
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

  function track(opened: OpenedOrder): TrackedOrder {
    const isNew = queue.get(opened.orderId) === undefined
    const order = queue.track(opened)
    if (isNew) order.running = workers.isRunning(order.orderId)
    return order
  }

  async function open(order: TrackedOrder): Promise<void> {
    const record = await records.get(order.orderId)
    order.isRead = true
    const envelope = matchingCandidate(record, order.commit)
    receive(order, envelope?.commit)
    if (order.running) await offerAgain(order, envelope)
    cancel(order)
  }

  /** Offers an earlier server's run again: that server may have lost the database before an enclave answered. */
  async function offerAgain(order: TrackedOrder, envelope: Candidate | undefined): Promise<void> {
    const kept = cancels.has(order.orderId) ? await records.cancels.get(order.orderId) : undefined
    workers.offerAgain(order, envelope?.envelope, kept?.envelope)
  }

  async function resume(order: TrackedOrder): Promise<void> {
    const record = await records.get(order.orderId)
    noteHistory(order, record)
    const envelope = matchingCandidate(record, order.commit)
    if (order.running) {
      // A run that began without it ends as `rejected`.
      order.envelopeCame ||= envelope !== undefined
      await offerAgain(order, envelope)
    } else {
      order.mayBeAtEnclave ||= envelope === undefined
      const reason = envelope === undefined ? 'recovered' : 'restart'
      const next = record?.nextTriggerAt ?? null
      const waitsUntil = next === null ? null : Date.parse(next)
      workers.schedule(order, reason, dueAtStart(order, record), waitsUntil)
    }
    cancel(order)
  }

  /** Handles an open escrow. A reorganization may have removed the end of a tracked one. */
  function opened(found: OpenedOrder, apply: (order: TrackedOrder) => Promise<void>): Promise<void> {
    const order = track(found)
    order.state = 'OPEN'
    return attempt(order, () => apply(order))
  }

  /** An escrow is open; it runs if its envelope is here. Repeatable. */
  function handleOpening(order: OpenedOrder): Promise<void> {
    // The record may hold runs of the order after a deferral.
    return opened(order, queue.get(order.orderId)?.isRead === false ? resume : open)
  }

  /**
   * An escrow has ended. An order that the enclave has begun and not finished runs once more. Repeatable.
   * @param mayBeReclaim without a record the enclave may still hold the order
   */
  function handleEnd(found: OpenedOrder, state: 'SETTLED' | 'REFUNDED', mayBeReclaim = false): Promise<void> {
    const isUnsure = mayBeReclaim || queue.get(found.orderId)?.isRead === false
    const order = track(found)
    const isNews = !order.isRead || order.state !== state
    order.state = state
    return attempt(order, async () => {
      if (!order.isRead) noteHistory(order, await records.get(order.orderId), isUnsure)
      // The enclave may hold an order that was reclaimed.
      if (order.running && state === 'REFUNDED') workers.offerAgain(order)
      if (order.running) return
      if (isConcluded(order)) await conclude(order)
      else if (isNews || order.dueAt === null) workers.schedule(order, 'reclaimed')
    })
  }

  return {
    name: 'scheduler',
    async start() {},
    ...{ stop: workers.stop, adopt: workers.adopt, release: workers.release },
    /** Call it after each poll of the chain: retries deferred updates, and starts what is due by now. */
    async retry() {
      for (const order of queue.deferred())
        if (order.deferred !== undefined) await attempt(order, order.deferred)
      workers.check()
    },
    /** Reads envelopes that other servers have stored for open orders. @throws StorageError */
    async readEnvelopes() {
      for (const { orderId, candidates } of await readIdle())
        for (const { commit } of candidates) stored(orderId, commit)
    },
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
      for (const order of waiting()) workers.schedule(order, 'retry')
    },
    find: (orderId: Hex): Readonly<TrackedOrder> | undefined => queue.get(orderId),
    depth: () => queue.depth(performance.now()),
    /** Runs an order that the start finds open on the chain, with its envelope or without. */
    resume: (order: OpenedOrder) => opened(order, resume),
    opened: handleOpening,
    closed: handleEnd,
    /** @param state of the escrow; NONE when the node is behind the event of its opening */
    seen(order: OpenedOrder, state: EscrowedOrder['state']) {
      return state === 'OPEN' || state === 'NONE' ? handleOpening(order) : handleEnd(order, state)
    },
    /** An envelope was stored; it runs if its escrow is open. False when that escrow is not known yet. */
    stored,
  }
}

/**
 * Applies the latest change of an order's escrow, now or with a later poll. Until then its account waits, unless the order is settled.
 * The function rejects only with errors other than StorageError.
 */
function createAttempts(logger: Logger) {
  return async (order: TrackedOrder, action: () => Promise<void>): Promise<void> => {
    const recordId = order.orderId
    const before = order.deferred
    try {
      await action()
      // A later change may have been deferred meanwhile.
      if (order.deferred === undefined || order.deferred !== before) return
      logger.info('order resumed', { recordId })
      order.deferred = undefined
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (order.deferred === undefined)
        logger.error('order deferred: its record fails', { recordId, ...describeError(error) })
      order.deferred = action
    }
  }
}

/** Reads the records of orders that wait for their envelope, in versions other than the last ones that it read. */
function createIdleReader(records: OrderRecords, queue: OrderQueue) {
  let versions = new Map<Hex, number | undefined>()
  return async (): Promise<OrderRecord[]> => {
    const idle = queue.awaitingEnvelope()
    versions = new Map(idle.map(({ orderId }) => [orderId, versions.get(orderId)]))
    const newer = idle.length === 0 ? [] : await records.newer(versions)
    for (const { version, record } of newer) versions.set(record.orderId, version)
    return newer.map(({ record }) => record)
  }
}

/** An order whose cancel cannot be read does not run without it: its start fails. */
async function commitOfCancel({ cancels }: OrderRecords, orderId: Hex): Promise<Hex> {
  return (await cancels.get(orderId).catch(() => undefined))?.commit ?? UNREAD
}

/** @param mayBeAtEnclave whether the enclave may hold an order without a record */
function noteHistory(order: TrackedOrder, record: OrderRecord | undefined, mayBeAtEnclave = false): void {
  if (order.isRead) return
  const last = record?.triggers.at(-1)
  order.isRead = true
  order.failures = failuresAtEnd(record?.triggers ?? [])
  order.lastOutcome = last?.outcome ?? null
  order.waitsFor = last?.waitsFor
  order.mayBeAtEnclave = record === undefined ? mayBeAtEnclave : last !== undefined
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
function isConcluded({ state, lastOutcome, mayBeAtEnclave }: TrackedOrder): boolean {
  if (state !== 'REFUNDED') return state === 'SETTLED'
  return !mayBeAtEnclave || (lastOutcome !== null && FINAL_OUTCOMES.has(lastOutcome))
}
