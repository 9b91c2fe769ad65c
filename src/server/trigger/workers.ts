import type { TriggerReason } from '../../protocol/api.js'
import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { MAX_TIMER_MS } from '../../protocol/timeLimit.js'
import { describeError, type Logger } from '../../service/logger.js'
import { pause } from '../../service/waiting.js'
import type { OpenedOrder } from '../escrow/escrowLogs.js'
import type { OrderQueue, TrackedOrder } from './orderQueue.js'
import type { EndedOrderRun, OrderRuns, RetryTimes } from './orderRun.js'
import type { TriggerRateLimit } from './rateLimit.js'
import type { Run } from './runner.js'

/** Runs due orders: up to ENCLAVE_MAX_RUNS at once, one of an account at a time. */
export function createWorkers(options: {
  readonly queue: OrderQueue
  readonly orderRuns: OrderRuns
  readonly rateLimit: TriggerRateLimit
  readonly maxRuns: number
  readonly times: Pick<RetryTimes, 'storageMs'>
  readonly onEnded: (order: TrackedOrder, ended: EndedOrderRun) => Promise<void>
  readonly logger: Logger
}) {
  const { queue, orderRuns, rateLimit, maxRuns, times, onEnded, logger } = options
  /** Runs under way by order; those of an earlier server can be offered again. */
  const followed = new Map<Hex, Run>()
  /** Orders whose last run could not be recorded before its start. */
  const unstarted = new Set<Hex>()
  const writing = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  let underWay = 0
  let isChecking = false
  let released = false
  let timer: NodeJS.Timeout | undefined

  function schedule(
    order: TrackedOrder,
    reason: TriggerReason,
    dueAt: number | null = performance.now(),
    waitsUntil: number | null = null,
  ): void {
    order.dueAt = dueAt
    order.waitsUntil = waitsUntil
    order.reason = reason
    if (dueAt === null) unstarted.delete(order.orderId)
    check()
  }

  function mayStart(): boolean {
    return released && !stopping.signal.aborted && underWay < maxRuns
  }

  /** Starts due orders. Those that become due together, such as when the market opens, are all known before the first of them starts. */
  function check(): void {
    if (isChecking || !mayStart()) return
    isChecking = true
    setImmediate(() => void startNext())
  }

  /** Chooses the order only at its turn: others may have become due, or this one may have ended. */
  async function startNext(): Promise<void> {
    if (queue.hasNext(performance.now())) await rateLimit.acquire()
    isChecking = false
    const now = performance.now()
    const order = mayStart() ? queue.next(now) : undefined
    if (order === undefined) return sleepUntilDue(now)
    order.running = true
    void withPermit(order.account, (release) => runOnce(order, release))
    check()
  }

  /** An order that waits by the system clock may be due sooner: each poll of the chain checks that too. */
  function sleepUntilDue(now: number): void {
    clearTimeout(timer)
    const ms = Math.min(queue.msUntilDue(now), MAX_TIMER_MS)
    if (!stopping.signal.aborted) timer = setTimeout(check, ms).unref()
  }

  /** @param work may release its permit before its end, so that another account runs; its own account waits for the end */
  async function withPermit(account: Hex, work: (release: () => void) => Promise<void>): Promise<void> {
    let hasPermit = true
    function release(): void {
      if (hasPermit) underWay--
      hasPermit = false
      check()
    }
    underWay++
    queue.occupy(account)
    try {
      await work(release)
    } catch (error) {
      logger.error('order run not handled', describeError(error))
    } finally {
      queue.release(account)
      release()
    }
  }

  async function runOnce(order: TrackedOrder, release: () => void): Promise<void> {
    order.dueAt = null
    const started = untilWritten(orderRuns.start(order))
    const run = await started.catch((error: unknown) => deferStart(order, error, release))
    if (run === undefined) {
      order.running = false
      return
    }
    if (unstarted.delete(order.orderId)) logger.info('run started', { orderId: order.orderId })
    order.mayBeAtEnclave = true
    await follow(run, release)
  }

  /** Its account waits with it, which keeps the account's orders in sequence. Logged once: a disk may be full for hours. */
  async function deferStart(order: TrackedOrder, error: unknown, release: () => void): Promise<undefined> {
    const { orderId } = order
    if (!unstarted.has(orderId)) logger.error('run not started', { orderId, ...describeError(error) })
    unstarted.add(orderId)
    order.running = false
    schedule(order, order.reason)
    release()
    await retryTime()
    return undefined
  }

  async function follow(run: Run, release: () => void): Promise<void> {
    if (run.record.job !== 'order') return
    followed.set(run.record.orderId, run)
    const end = await run.end
    followed.delete(run.record.orderId)
    // The next server adopts it from its row.
    if (stopping.signal.aborted) return
    const order = queue.get(run.record.orderId)
    const again = () => {
      // The run is over, and perhaps only this order's record fails.
      release()
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

  /** Waits before a failed write is retried; false when the server stops first. */
  const retryTime = () => pause(times.storageMs, stopping.signal)

  function untilWritten<T>(work: Promise<T>): Promise<T> {
    writing.add(work)
    return work.finally(() => writing.delete(work))
  }

  return {
    /**
     * @param dueAt by the monotonic clock; null for never, and now by default
     * @param waitsUntil the same in Unix milliseconds, where others have named that time. Should the system clock turn out to have been
     * wrong, the order is due when either clock says so.
     */
    schedule,
    isRunning: (orderId: Hex) => followed.has(orderId),
    /** Follows an earlier server's run: its account waits for it. Before `release`. */
    adopt(run: Run) {
      const { record } = run
      if (record.job === 'order') void withPermit(record.account, (release) => follow(run, release))
    },
    /** Offers the job of the order's adopted run again, if there is one. Repeatable. */
    offerAgain({ orderId, position }: OpenedOrder, envelope?: Envelope, cancel?: Envelope) {
      const run = followed.get(orderId)
      if (run?.record.job !== 'order') return
      const { account, attempt } = run.record
      run.offerAgain?.({ job: 'order', orderId, account, attempt, openedAt: position, envelope, cancel })
    },
    /** Every order that was open at the start is known, so runs may begin. */
    release() {
      released = true
      check()
    },
    /** Call it after each poll of the chain: the system clock may have been set, or a suspended account may go on. */
    check,
    /** Starts no further run; resolves once pending writes have ended. The runs themselves go on. */
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await Promise.allSettled(writing)
    },
  }
}
