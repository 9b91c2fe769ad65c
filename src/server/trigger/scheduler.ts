import type { Hex } from '../../protocol/hex.js'
import { FINAL_OUTCOMES } from '../../protocol/job.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { OpenedOrder } from '../escrow/escrowLogs.js'
import type { Service } from '../lifetime.js'
import { matchingCandidate, type OrderRecord, type OrderRecords } from '../store/orderRecords.js'
import { StorageError } from '../store/storageError.js'
import { createOrderQueue, type Due, due, type QueueDepth, type TrackedOrder } from './orderQueue.js'
import { type EndedOrderRun, failuresAtEnd, type OrderRuns } from './orderRun.js'
import type { TriggerRateLimit } from './rateLimit.js'
import type { Run, ShownOutcome } from './runner.js'
import { createWorkers } from './workers.js'

/**
 * Decides which order runs when, from what the chain, the clients and the runs bring. An order whose record fails is put
 * off, with its account, and holds up nobody else.
 */
export interface Scheduler extends Service {
  /** A run that an earlier server left: its account waits for it. Before `release`. */
  adopt(run: Run): void
  /** What the start finds open on the chain: runs again, with its envelope or without. */
  resume(opened: OpenedOrder): Promise<void>
  /** Everything that was open at the start is known: runs may begin. */
  release(): void
  /** An escrow is open; it runs if its envelope is here. Repeatable. */
  opened(opened: OpenedOrder): Promise<void>
  /** An envelope was stored; it runs if its escrow is open. False when that escrow is not known yet. */
  stored(orderId: Hex, commit: Hex): boolean
  /** An escrow has ended. What the enclave has begun and not finished itself runs once more. Repeatable. */
  closed(order: OpenedOrder, state: 'SETTLED' | 'REFUNDED'): Promise<void>
  /** The chain shows that a run of the order, if one is under way, has ended it. Before `closed`. */
  seenOnChain(orderId: Hex, outcome: ShownOutcome): void
  /** As `closed`, for an escrow that was perhaps reclaimed: without a record the enclave may hold the order still. */
  reclaimed(order: OpenedOrder): Promise<void>
  /** Takes up again what was put off. */
  retry(): Promise<void>
  /** Looks for envelopes that other servers have stored for open orders. @throws StorageError */
  lookForEnvelopes(): Promise<void>
  /** The order, while it is watched over. */
  find(orderId: Hex): (OpenedOrder & Pick<TrackedOrder, 'state' | 'running'>) | undefined
  /** How much there is to do now. */
  depth(): QueueDepth
}

interface SchedulerOptions {
  readonly records: OrderRecords
  readonly orderRuns: OrderRuns
  /** When a run may be started. */
  readonly rateLimit: TriggerRateLimit
  /** Order runs at once. */
  readonly maxRuns: number
  /** A run says that its escrow has ended: look at the chain. */
  readonly onFinal: () => void
  readonly logger: Logger
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { records, orderRuns, rateLimit, maxRuns, onFinal, logger } = options
  const queue = createOrderQueue()
  /** Versions of the records in which idle orders had no envelope. */
  let versions = new Map<Hex, number | undefined>()
  const workers = createWorkers({ queue, orderRuns, rateLimit, maxRuns, onEnded, logger })
  const deferred = createDeferredUpdates({ hold: workers.hold, letGo: workers.letGo, logger })

  async function onEnded(order: TrackedOrder, { outcome, next }: EndedOrderRun): Promise<void> {
    if (isConcluded(order)) {
      await deferred.attempt({ order, state: order.state }, () => conclude(order))
    } else if (outcome === 'rejected' && order.envelopeCame) {
      // It came while a run without one was under way.
      order.envelopeCame = false
      workers.schedule(order, due(Date.now()), 'received')
    } else {
      workers.schedule(order, next, 'retry')
      if (FINAL_OUTCOMES.has(outcome)) onFinal()
    }
  }

  async function conclude(order: TrackedOrder): Promise<void> {
    workers.schedule(order, null, 'retry')
    // An order that ended without a run has no history, and anyone may post envelopes under it.
    await records.removeUnrun(order.orderId)
    await records.finish(order.orderId)
    queue.forget(order.orderId)
  }

  async function close(order: TrackedOrder, state: 'SETTLED' | 'REFUNDED'): Promise<void> {
    const isNews = order.state !== state
    order.state = state
    if (order.running) return
    if (isConcluded(order)) await conclude(order)
    else if (isNews || order.dueAt === null) workers.schedule(order, due(Date.now()), 'reclaimed')
  }

  /** Runs an order for the envelope that has come, unless it has run with one already. */
  function receive(order: TrackedOrder, commit: Hex | undefined): void {
    if (order.state !== 'OPEN' || commit !== order.commit) return
    order.envelopeCame = order.running
    // A final outcome of an open order: the block that it was seen in is no longer part of the chain.
    const isNew = order.lastOutcome === null || FINAL_OUTCOMES.has(order.lastOutcome)
    if (isNew && !order.running && order.dueAt === null) workers.schedule(order, due(Date.now()), 'received')
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
    receive(order, matchingCandidate(record, opened.commit)?.commit)
  }

  async function lookForEnvelopes(): Promise<void> {
    const idle = queue.idle().filter(waitsForEnvelope)
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
    // Its end may have been seen, and taken back by a reorganization.
    order.state = 'OPEN'
    const envelope = matchingCandidate(record, opened.commit)
    if (order.running) {
      // The run may have begun without it: then it ends as `rejected`.
      order.envelopeCame = envelope !== undefined
      return
    }
    order.mayBeHeld ||= envelope === undefined
    workers.schedule(order, dueAtStart(order, record), envelope === undefined ? 'recovered' : 'restart')
  }

  async function reclaim(opened: OpenedOrder): Promise<void> {
    const record = await records.get(opened.orderId)
    const order = track(opened, record)
    order.mayBeHeld ||= record === undefined
    await close(order, 'REFUNDED')
  }

  /** Its record says, or said before it was lost, whether a run has given it to the enclave. */
  function isPutOff({ orderId }: OpenedOrder): boolean {
    return deferred.find(orderId) !== undefined
  }

  function find(orderId: Hex): ReturnType<Scheduler['find']> {
    const putOff = deferred.find(orderId)
    if (putOff === undefined) return queue.get(orderId)
    const running = queue.get(orderId)?.running ?? workers.isAdopted(orderId)
    return { ...putOff.order, state: putOff.state, running }
  }

  return {
    name: 'scheduler',
    async start() {},
    stop: () => workers.stop(),
    adopt: (run) => workers.adopt(run),
    release: () => workers.release(),
    seenOnChain: (orderId, outcome) => workers.seenOnChain(orderId, outcome),
    retry: () => deferred.retry(),
    lookForEnvelopes,
    find,
    depth: () => queue.depth(performance.now()),
    opened(order) {
      const take = isPutOff(order) ? resume : open
      return deferred.attempt({ order, state: 'OPEN' }, () => take(order))
    },
    resume: (order) => deferred.attempt({ order, state: 'OPEN' }, () => resume(order)),
    reclaimed: (order) => deferred.attempt({ order, state: 'REFUNDED' }, () => reclaim(order)),
    closed(order, state) {
      const isUnsure = state === 'REFUNDED' && isPutOff(order)
      return deferred.attempt({ order, state }, async () => {
        if (isUnsure) return reclaim(order)
        await close(track(order, await records.get(order.orderId)), state)
      })
    },

    stored(orderId, commit) {
      const order = queue.get(orderId)
      if (order !== undefined) receive(order, commit)
      return order !== undefined
    },
  }
}

/**
 * At once, but for what waits at the broker or for the market: that keeps its time. A run that ended in the future shows
 * that the clock was set back since: then the wait begins again.
 */
function dueAtStart({ lastOutcome }: TrackedOrder, record: OrderRecord | undefined): Due {
  const now = Date.now()
  const isWaiting = lastOutcome === 'queued' || lastOutcome === 'placed'
  const next = record?.nextTriggerAt ?? null
  if (!isWaiting || next === null) return due(now)
  const endedAt = Date.parse(record?.triggers.at(-1)?.finishedAt ?? next)
  const setBackBy = Math.max(0, endedAt - now)
  return due(Math.max(now, Date.parse(next) - setBackBy))
}

/** Of an open order that has ended otherwise, the event is still to come. */
function waitsForEnvelope({ lastOutcome }: TrackedOrder): boolean {
  return lastOutcome === null || lastOutcome === 'rejected'
}

/**
 * An ended escrow needs nothing more once the enclave says so, or can't hold the order; settling is the enclave's
 * own doing.
 */
function isConcluded({ state, lastOutcome, mayBeHeld }: TrackedOrder): boolean {
  if (state !== 'REFUNDED') return state === 'SETTLED'
  return !mayBeHeld || (lastOutcome !== null && FINAL_OUTCOMES.has(lastOutcome))
}

/** Chain events whose order record could not be read or written; retried later. */
export interface DeferredUpdates {
  /**
   * Does what the latest news of an order asks for, now or at a later `retry`. Until then its account is held, as its
   * orders run in their order, unless it is settled: then it runs no more. Rejects only with what is no StorageError.
   */
  attempt(news: News, action: () => Promise<void>): Promise<void>
  retry(): Promise<void>
  /** The news of an order whose update is deferred. */
  find(orderId: Hex): News | undefined
}

/** An order, and what has become of its escrow. */
export interface News {
  readonly order: OpenedOrder
  readonly state: TrackedOrder['state']
}

interface DeferredUpdate {
  readonly news: News
  readonly action: () => Promise<void>
  /** The account that is held for it, as it was then: a reorganisation of the chain may bring another. */
  readonly held: Hex | undefined
}

export function createDeferredUpdates(options: {
  /** Nothing of the account runs until it is let go. */
  readonly hold: (account: Hex) => void
  readonly letGo: (account: Hex) => void
  readonly logger: Logger
}): DeferredUpdates {
  const { hold, letGo, logger } = options
  const updates = new Map<Hex, DeferredUpdate>()

  /** @returns the account that is held from now on */
  function holdFor({ order, state }: News, held: Hex | undefined): Hex | undefined {
    if (state === 'SETTLED') {
      if (held !== undefined) letGo(held)
      return undefined
    }
    if (held === undefined) hold(order.account)
    return held ?? order.account
  }

  function defer(news: News, action: DeferredUpdate['action'], error: StorageError): void {
    const { orderId } = news.order
    const before = updates.get(orderId)
    updates.set(orderId, { news, action, held: holdFor(news, before?.held) })
    if (before !== undefined) return
    logger.error('order put off: its record fails', { recordId: orderId, ...describeError(error) })
  }

  function forget(orderId: Hex): void {
    const update = updates.get(orderId)
    if (update === undefined) return
    updates.delete(orderId)
    if (update.held !== undefined) letGo(update.held)
    logger.info('order taken up again', { recordId: orderId })
  }

  async function attempt(news: News, action: DeferredUpdate['action']): Promise<void> {
    try {
      await action()
      forget(news.order.orderId)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      defer(news, action, error)
    }
  }

  return {
    attempt,
    find: (orderId) => updates.get(orderId)?.news,
    async retry() {
      for (const { news, action } of [...updates.values()]) await attempt(news, action)
    },
  }
}
