import type { TriggerReason } from '../../../protocol/api.js'
import type { Hex } from '../../../protocol/hex.js'
import { describeError, type Logger } from '../../logger.js'
import type { EndedOrderRun, OrderRuns } from '../runs/orderRun.js'
import type { Run } from '../runs/runs.js'
import type { RunQueue } from './runQueue.js'
import type { TrackedOrder } from './trackedOrder.js'

/** Runs what is due: up to ENCLAVE_MAX_RUNS orders at once, one of an account at a time. */
export interface OrderLoop {
  /** @param dueAt Unix milliseconds; null for never */
  schedule(order: TrackedOrder, dueAt: number | null, reason: TriggerReason): void
  /** Waits for a run of an earlier server as if it were one of its own. */
  adopt(run: Run): void
  /** Whether a run of the order that `adopt` was given is under way. */
  isAdopted(orderId: Hex): boolean
  /** Nothing runs before. */
  release(): void
  /** Starts nothing more; resolves once what is under way is noted on disk. The runs themselves go on. */
  stop(): Promise<void>
}

interface OrderLoopOptions {
  readonly queue: RunQueue
  readonly orderRuns: OrderRuns
  readonly maxRuns: number
  /** A run of a tracked order has ended and is noted: what comes next? */
  readonly onEnded: (order: TrackedOrder, ended: EndedOrderRun) => Promise<void>
  readonly logger: Logger
}

/** Before a run that could not be noted on disk is tried again. */
const STORAGE_RETRY_MS = 5_000
/** Timers count in 32 bits; a longer wait is looked at again in between. */
const MAX_TIMER_MS = 24 * 3_600_000

export function createOrderLoop(options: OrderLoopOptions): OrderLoop {
  const { queue, orderRuns, maxRuns, onEnded, logger } = options
  const timers = new Map<Hex, NodeJS.Timeout>()
  const adopted = new Set<Hex>()
  const writing = new Set<Promise<unknown>>()
  let underWay = 0
  let released = false
  let stopped = false

  function schedule(order: TrackedOrder, dueAt: number | null, reason: TriggerReason): void {
    order.dueAt = dueAt
    order.reason = reason
    clearTimeout(timers.get(order.orderId))
    timers.delete(order.orderId)
    if (dueAt === null || stopped) return
    const wait = dueAt - Date.now()
    if (wait > 0) {
      const timer = setTimeout(() => schedule(order, dueAt, order.reason), Math.min(wait, MAX_TIMER_MS))
      timer.unref()
      timers.set(order.orderId, timer)
      return
    }
    queue.wake(order.account)
    pump()
  }

  function pump(): void {
    while (released && !stopped && underWay < maxRuns) {
      const order = queue.next(Date.now())
      if (order === undefined) return
      order.running = true
      void occupy(order.account, () => runOnce(order))
    }
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
    const end = await run.end
    // The next server picks it up from its file.
    if (stopped || run.file.job !== 'order') return
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
      void occupy(file.account, async () => {
        await run.end
        adopted.delete(file.orderId)
        await follow(run)
      })
    },
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
