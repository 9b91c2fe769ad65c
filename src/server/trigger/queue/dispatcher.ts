import type { Hex } from '../../../protocol/hex.js'
import { FINAL_OUTCOMES } from '../../../protocol/job.js'
import type { Logger } from '../../../service/logger.js'
import type { Service } from '../../lifetime.js'
import { matchingCandidate, type OrderRecord, type OrderRecords } from '../../store/orderRecords.js'
import type { Pace } from '../pace.js'
import { type EndedOrderRun, failuresAtEnd, type OrderRuns } from '../runs/orderRun.js'
import type { ShownOutcome } from '../runs/runner.js'
import type { Run } from '../runs/runs.js'
import { type Due, due } from './due.js'
import { createOrderLoop } from './orderLoop.js'
import { createOwed } from './owed.js'
import { createRunQueue, type QueueDepth } from './runQueue.js'
import type { OpenedOrder, TrackedOrder } from './trackedOrder.js'

/**
 * Decides which order runs when, from what the chain, the clients and the runs bring. An order whose record fails is put
 * off, with its account, and holds up nobody else.
 */
export interface Dispatcher extends Service {
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
  /** The order, while it is watched over. */
  find(orderId: Hex): (OpenedOrder & Pick<TrackedOrder, 'state' | 'running'>) | undefined
  /** How much there is to do now. */
  depth(): QueueDepth
}

interface DispatcherOptions {
  readonly records: OrderRecords
  readonly orderRuns: OrderRuns
  /** When a run may be started. */
  readonly pace: Pace
  /** Order runs at once. */
  readonly maxRuns: number
  /** A run says that its escrow has ended: look at the chain. */
  readonly onFinal: () => void
  readonly logger: Logger
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { records, orderRuns, pace, maxRuns, onFinal, logger } = options
  const queue = createRunQueue()
  const loop = createOrderLoop({ queue, orderRuns, pace, maxRuns, onEnded, logger })
  const owed = createOwed({ hold: loop.hold, letGo: loop.letGo, logger })

  async function onEnded(order: TrackedOrder, { outcome, next }: EndedOrderRun): Promise<void> {
    if (isConcluded(order)) {
      await owed.attempt({ order, state: order.state }, () => conclude(order))
    } else if (outcome === 'rejected' && order.envelopeCame) {
      // It came while a run without one was under way.
      order.envelopeCame = false
      loop.schedule(order, due(Date.now()), 'received')
    } else {
      loop.schedule(order, next, 'retry')
      if (FINAL_OUTCOMES.has(outcome)) onFinal()
    }
  }

  async function conclude(order: TrackedOrder): Promise<void> {
    loop.schedule(order, null, 'retry')
    // Of an order that ended without a run there is nothing to tell, and anyone may post envelopes under it.
    await records.removeUnrun(order.orderId)
    await records.finish(order.orderId)
    queue.forget(order.orderId)
  }

  async function close(order: TrackedOrder, state: 'SETTLED' | 'REFUNDED'): Promise<void> {
    const isNews = order.state !== state
    order.state = state
    if (order.running) return
    if (isConcluded(order)) await conclude(order)
    else if (isNews || order.dueAt === null) loop.schedule(order, due(Date.now()), 'reclaimed')
  }

  /** Runs an order for the envelope that has come, unless it has run with one already. */
  function receive(order: TrackedOrder, commit: Hex | undefined): void {
    if (order.state !== 'OPEN' || commit !== order.commit) return
    order.envelopeCame = order.running
    // A final outcome of an open order: the block that it was seen in is no longer part of the chain.
    const isNew = order.lastOutcome === null || FINAL_OUTCOMES.has(order.lastOutcome)
    if (isNew && !order.running && order.dueAt === null) loop.schedule(order, due(Date.now()), 'received')
  }

  /** The order with what its record tells, when it was not tracked yet. */
  function track(opened: OpenedOrder, record: OrderRecord | undefined): TrackedOrder {
    const isNew = queue.get(opened.orderId) === undefined
    const order = queue.track(opened)
    if (!isNew) return order
    order.running = loop.isAdopted(order.orderId)
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
    loop.schedule(order, dueAtStart(order, record), envelope === undefined ? 'recovered' : 'restart')
  }

  async function reclaim(opened: OpenedOrder): Promise<void> {
    const record = await records.get(opened.orderId)
    const order = track(opened, record)
    order.mayBeHeld ||= record === undefined
    await close(order, 'REFUNDED')
  }

  /** Its record may tell, or have told before it was lost, that the enclave was given it. */
  function isPutOff({ orderId }: OpenedOrder): boolean {
    return owed.find(orderId) !== undefined
  }

  function find(orderId: Hex): ReturnType<Dispatcher['find']> {
    const putOff = owed.find(orderId)
    if (putOff === undefined) return queue.get(orderId)
    const running = queue.get(orderId)?.running ?? loop.isAdopted(orderId)
    return { ...putOff.order, state: putOff.state, running }
  }

  return {
    name: 'dispatcher',
    async start() {},
    stop: () => loop.stop(),
    adopt: (run) => loop.adopt(run),
    release: () => loop.release(),
    seenOnChain: (orderId, outcome) => loop.seenOnChain(orderId, outcome),
    retry: () => owed.retry(),
    find,
    depth: () => queue.depth(performance.now()),
    opened(order) {
      const take = isPutOff(order) ? resume : open
      return owed.attempt({ order, state: 'OPEN' }, () => take(order))
    },
    resume: (order) => owed.attempt({ order, state: 'OPEN' }, () => resume(order)),
    reclaimed: (order) => owed.attempt({ order, state: 'REFUNDED' }, () => reclaim(order)),
    closed(order, state) {
      const isUnsure = state === 'REFUNDED' && isPutOff(order)
      return owed.attempt({ order, state }, async () => {
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

/**
 * An ended escrow needs nothing more once the enclave says so, or can't hold the order; settling is the enclave's
 * own doing.
 */
function isConcluded({ state, lastOutcome, mayBeHeld }: TrackedOrder): boolean {
  if (state !== 'REFUNDED') return state === 'SETTLED'
  return !mayBeHeld || (lastOutcome !== null && FINAL_OUTCOMES.has(lastOutcome))
}
