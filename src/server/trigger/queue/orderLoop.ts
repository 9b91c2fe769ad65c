import type { TriggerReason } from '../../../protocol/api.js'
import type { Hex } from '../../../protocol/hex.js'
import { describeError, type Logger } from '../../logger.js'
import type { Pace } from '../pace.js'
import type { EndedOrderRun, OrderRuns } from '../runs/orderRun.js'
import type { ShownOutcome } from '../runs/runner.js'
import type { Run } from '../runs/runs.js'
import type { RunQueue } from './runQueue.js'
import type { TrackedOrder } from './trackedOrder.js'

/** Runs what is due: up to ENCLAVE_MAX_RUNS orders at once, one of an account at a time. */
export interface OrderLoop {
  /**
   * @param dueAt Unix milliseconds; null for never. It waits no longer than it is until then now, also when the clock is
   *   set back meanwhile; when it is set ahead, the order may run at once.
   */
  schedule(order: TrackedOrder, dueAt: number | null, reason: TriggerReason): void
  /** Waits for a run of an earlier server as if it were one of its own. */
  adopt(run: Run): void
  /** Whether a run of the order that `adopt` was given is under way. */
  isAdopted(orderId: Hex): boolean
  /** The chain shows what a run of the order has brought about. */
  seenOnChain(orderId: Hex, outcome: ShownOutcome): void
  /** Nothing runs before. */
  release(): void
  /** Starts nothing more; resolves once what is under way is noted on disk. The runs themselves go on. */
  stop(): Promise<void>
}

interface OrderLoopOptions {
  readonly queue: RunQueue
  readonly orderRuns: OrderRuns
  readonly pace: Pace
  readonly maxRuns: number
  /** A run of a tracked order has ended and is noted: what comes next? */
  readonly onEnded: (order: TrackedOrder, ended: EndedOrderRun) => Promise<void>
  readonly logger: Logger
}

/** Before a run that could not be noted on disk is tried again. */
const STORAGE_RETRY_MS = 5_000
/** Timers count in 32 bits, and stand still while the machine sleeps: a longer wait is looked at again in between. */
const MAX_TIMER_MS = 24 * 3_600_000

export function createOrderLoop(options: OrderLoopOptions): OrderLoop {
  const { queue, orderRuns, pace, maxRuns, onEnded, logger } = options
  const timers = new Map<Hex, NodeJS.Timeout>()
  const adopted = new Set<Hex>()
  const followed = new Map<Hex, Run>()
  const writing = new Set<Promise<unknown>>()
  let underWay = 0
  let isInTurn = false
  let released = false
  let stopped = false

  function schedule(order: TrackedOrder, dueAt: number | null, reason: TriggerReason): void {
    order.dueAt = dueAt === null ? null : performance.now() + dueAt - Date.now()
    order.reason = reason
    clearTimeout(timers.get(order.orderId))
    timers.delete(order.orderId)
    if (dueAt !== null && !stopped) awaitDue(order, dueAt)
  }

  /** The time has come by whichever clock says so first: early, a run does no harm, but late it may be hours. */
  function awaitDue(order: TrackedOrder, dueAt: number): void {
    if (order.dueAt === null) return
    const now = performance.now()
    order.dueAt = Math.min(order.dueAt, now + dueAt - Date.now())
    const wait = order.dueAt - now
    if (wait > 0) {
      const timer = setTimeout(() => awaitDue(order, dueAt), Math.min(wait, MAX_TIMER_MS))
      timer.unref()
      timers.set(order.orderId, timer)
      return
    }
    timers.delete(order.orderId)
    queue.wake(order.account)
    pump()
  }

  function pump(): void {
    if (isInTurn || !mayStart() || !queue.hasNext(performance.now())) return
    isInTurn = true
    void pace.take().then(() => {
      isInTurn = false
      startNext()
      pump()
    })
  }

  function mayStart(): boolean {
    return released && !stopped && underWay < maxRuns
  }

  /** Which order it is shows when the turn comes: others may have become due, or this one may have ended. */
  function startNext(): void {
    const order = mayStart() ? queue.next(performance.now()) : undefined
    if (order === undefined) return
    order.running = true
    void occupy(order.account, () => runOnce(order))
  }

  async function occupy(account: Hex, work: () => Promise<void>): Promise<void> {
    underWay++
    queue.occupy(account)
    try {
      await work()
    } catch (error) {
      logger.error('order run not dealt with', describeError(error))
    } finally {
      underWay--
      queue.release(account)
      pump()
    }
  }

  async function runOnce(order: TrackedOrder): Promise<void> {
    order.dueAt = null
    try {
      const run = await untilWritten(orderRuns.start(order))
      order.mayBeHeld ||= run !== undefined
      if (run !== undefined) return await follow(run)
    } catch (error) {
      logger.error('run not started', { orderId: order.orderId, ...describeError(error) })
      schedule(order, Date.now() + STORAGE_RETRY_MS, order.reason)
    }
    order.running = false
  }

  async function follow(run: Run): Promise<void> {
    if (run.file.job !== 'order') return
    followed.set(run.file.orderId, run)
    const end = await run.end
    followed.delete(run.file.orderId)
    // The next server picks it up from its file.
    if (stopped) return
    const order = queue.get(run.file.orderId)
    const ended = await untilWritten(orderRuns.finish(run, end, order?.failures ?? 0))
    if (order === undefined) return
    order.running = false
    order.failures = ended.failures
    order.lastOutcome = ended.outcome
    await onEnded(order, ended)
  }

  async function untilWritten<T>(work: Promise<T>): Promise<T> {
    writing.add(work)
    try {
      return await work
    } finally {
      writing.delete(work)
    }
  }

  return {
    schedule,
    isAdopted: (orderId) => adopted.has(orderId),
    adopt(run) {
      const { file } = run
      if (file.job !== 'order') return
      adopted.add(file.orderId)
      void run.end.then(() => adopted.delete(file.orderId))
      void occupy(file.account, () => follow(run))
    },
    seenOnChain: (orderId, outcome) => followed.get(orderId)?.seenOnChain(outcome),
    release() {
      released = true
      pump()
    },
    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.allSettled(writing)
    },
  }
}
