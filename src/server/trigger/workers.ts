import { setTimeout as sleep } from 'node:timers/promises'
import type { TriggerReason } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { describeError, type Logger } from '../../service/logger.js'
import { type Due, due, type OrderQueue, type TrackedOrder, waitFor } from './orderQueue.js'
import type { EndedOrderRun, OrderRuns } from './orderRun.js'
import type { TriggerRateLimit } from './rateLimit.js'
import type { Run, ShownOutcome } from './runner.js'

/** Runs what is due: up to ENCLAVE_MAX_RUNS orders at once, one of an account at a time. */
export interface Workers {
  /** @param when null for never */
  schedule(order: TrackedOrder, when: Due | null, reason: TriggerReason): void
  /** Waits for a run of an earlier server as if it were one of its own. */
  adopt(run: Run): void
  /** Whether a run of the order that `adopt` was given is under way. */
  isAdopted(orderId: Hex): boolean
  /** The chain shows what a run of the order has brought about. */
  seenOnChain(orderId: Hex, outcome: ShownOutcome): void
  /** Nothing runs before. */
  release(): void
  /** Nothing of the account runs until it is let go, as often as it was held. */
  hold(account: Hex): void
  letGo(account: Hex): void
  /** Starts nothing more; resolves once what is under way is noted on disk. The runs themselves go on. */
  stop(): Promise<void>
}

interface WorkersOptions {
  readonly queue: OrderQueue
  readonly orderRuns: OrderRuns
  readonly rateLimit: TriggerRateLimit
  readonly maxRuns: number
  /** A run of a tracked order has ended and is noted: what comes next? */
  readonly onEnded: (order: TrackedOrder, ended: EndedOrderRun) => Promise<void>
  readonly logger: Logger
}

/** Before a run that could not be noted on disk, or its end, is tried again. */
const STORAGE_RETRY_MS = 5_000
/** A longer wait is looked at again in between: the clock may have been set right, or the machine have slept. */
const LOOK_AGAIN_MS = 60_000

export function createWorkers(options: WorkersOptions): Workers {
  const { queue, orderRuns, rateLimit, maxRuns, onEnded, logger } = options
  const timers = new Map<Hex, NodeJS.Timeout>()
  const adopted = new Set<Hex>()
  const followed = new Map<Hex, Run>()
  /** Orders whose run could not be noted on disk the last time. */
  const unstarted = new Set<Hex>()
  const writing = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  let underWay = 0
  let isInTurn = false
  let released = false

  function schedule(order: TrackedOrder, when: Due | null, reason: TriggerReason): void {
    order.dueAt = when?.steadyMs ?? null
    order.reason = reason
    clearTimeout(timers.get(order.orderId))
    timers.delete(order.orderId)
    if (when === null) {
      unstarted.delete(order.orderId)
      // Those that it held back may be due by now.
      wake(order.account)
    } else if (!stopping.signal.aborted) {
      awaitDue(order, when)
    }
  }

  function wake(account: Hex): void {
    queue.wake(account)
    pump()
  }

  function awaitDue(order: TrackedOrder, when: Due): void {
    // It has run already, with its account's other orders.
    if (order.dueAt === null) return
    const wait = waitFor(when)
    order.dueAt = performance.now() + wait
    if (wait > 0) {
      const timer = setTimeout(() => awaitDue(order, when), Math.min(wait, LOOK_AGAIN_MS))
      timer.unref()
      timers.set(order.orderId, timer)
      return
    }
    timers.delete(order.orderId)
    wake(order.account)
  }

  function pump(): void {
    if (isInTurn || !mayStart() || !queue.hasNext(performance.now())) return
    isInTurn = true
    // All that become due at once, as when the market opens, are known before the first of them starts.
    setImmediate(() => {
      void rateLimit.take().then(() => {
        isInTurn = false
        startNext()
        pump()
      })
    })
  }

  function mayStart(): boolean {
    return released && !stopping.signal.aborted && underWay < maxRuns
  }

  /** Which order it is shows when the turn comes: others may have become due, or this one may have ended. */
  function startNext(): void {
    const order = mayStart() ? queue.next(performance.now()) : undefined
    if (order === undefined) return
    order.running = true
    void occupy(order.account, (leaveSlot) => runOnce(order, leaveSlot))
  }

  /** @param work may leave its slot before its end, so that another account runs; its own account waits for the end */
  async function occupy(account: Hex, work: (leaveSlot: () => void) => Promise<void>): Promise<void> {
    let hasSlot = true
    function leaveSlot(): void {
      if (hasSlot) underWay--
      hasSlot = false
      pump()
    }
    underWay++
    queue.occupy(account)
    try {
      await work(leaveSlot)
    } catch (error) {
      logger.error('order run not dealt with', describeError(error))
    } finally {
      queue.release(account)
      leaveSlot()
    }
  }

  async function runOnce(order: TrackedOrder, leaveSlot: () => void): Promise<void> {
    order.dueAt = null
    let run: Run | undefined
    try {
      run = await untilWritten(orderRuns.start(order))
    } catch (error) {
      return putOff(order, error, leaveSlot)
    }
    if (run === undefined) {
      order.running = false
      return
    }
    if (unstarted.delete(order.orderId)) logger.info('run started after all', { orderId: order.orderId })
    order.mayBeHeld = true
    await follow(run, leaveSlot)
  }

  /** Its account waits with it, whose orders run in their order. Told once: a disk may be full for hours. */
  async function putOff(order: TrackedOrder, error: unknown, leaveSlot: () => void): Promise<void> {
    const { orderId } = order
    if (!unstarted.has(orderId)) logger.error('run not started', { orderId, ...describeError(error) })
    unstarted.add(orderId)
    order.running = false
    schedule(order, due(Date.now() + STORAGE_RETRY_MS), order.reason)
    leaveSlot()
    await retryTime()
    // Unless it has ended meanwhile; before its account is let go, or a later one might be first.
    if (order.dueAt !== null) schedule(order, due(Date.now()), order.reason)
  }

  async function follow(run: Run, leaveSlot: () => void): Promise<void> {
    if (run.file.job !== 'order') return
    followed.set(run.file.orderId, run)
    const end = await run.end
    followed.delete(run.file.orderId)
    // The next server picks it up from its file.
    if (stopping.signal.aborted) return
    const order = queue.get(run.file.orderId)
    const again = () => {
      // Nothing runs any more: what fails is perhaps the file of this order alone.
      leaveSlot()
      return retryTime()
    }
    const ended = await untilWritten(orderRuns.finish(run, end, order?.failures ?? 0, again))
    if (order === undefined || ended === undefined) return
    order.running = false
    order.failures = ended.failures
    order.lastOutcome = ended.outcome
    order.waitsFor = ended.waitsFor
    await onEnded(order, ended)
  }

  /** Waits until what the disk did not take is to be tried again; false when the server stops before. */
  async function retryTime(): Promise<boolean> {
    const { signal } = stopping
    return sleep(STORAGE_RETRY_MS, true, { signal, ref: false }).catch(() => false)
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
      void occupy(file.account, (leaveSlot) => follow(run, leaveSlot))
    },
    seenOnChain: (orderId, outcome) => followed.get(orderId)?.seenOnChain(outcome),
    release() {
      released = true
      pump()
    },
    hold: (account) => queue.occupy(account),
    letGo(account) {
      queue.release(account)
      pump()
    },
    async stop() {
      stopping.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.allSettled(writing)
    },
  }
}
