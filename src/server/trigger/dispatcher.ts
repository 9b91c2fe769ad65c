import type { TriggerReason } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { FINAL_OUTCOMES } from '../../protocol/job.js'
import type { Service } from '../lifetime.js'
import { describeError, type Logger } from '../logger.js'
import { matchingCandidate, type OrderRecord, type OrderRecords } from '../store/orderRecords.js'
import { createOrderBook } from './orderBook.js'
import { failuresAtEnd, type OrderRuns } from './orderRun.js'
import type { Run } from './runs.js'
import type { OpenedOrder, TrackedOrder } from './trackedOrder.js'

/** Decides which order runs when. */
export interface Dispatcher extends Service {
  /** A run that an earlier server left: its account waits for it. Before `release`. */
  adopt(run: Run): void
  /** What the start finds open on the chain: runs again, with its envelope or without. */
  resume(opened: OpenedOrder): Promise<void>
  /** Everything that was open at the start is known: runs may begin. */
  release(): void
  /** An escrow has opened; it runs if its envelope is here. */
  opened(opened: OpenedOrder): Promise<void>
  /** An envelope was stored; it runs if its escrow is open. False when that escrow is not known yet. */
  stored(orderId: Hex, commit: Hex): boolean
  /** An escrow has ended. What the enclave has not finished itself runs once more. */
  closed(order: OpenedOrder, state: 'SETTLED' | 'REFUNDED'): Promise<void>
  /** The open order, as far as it is known. */
  find(orderId: Hex): OpenedOrder | undefined
}

export interface DispatcherOptions {
  readonly records: OrderRecords
  readonly orderRuns: OrderRuns
  /** Order runs at once. */
  readonly maxRuns: number
  /** A run says that its escrow has ended: look at the chain. */
  readonly onEnded: () => void
  readonly logger: Logger
}

/** Before a run that could not be noted on disk is tried again. */
const STORAGE_RETRY_MS = 5_000
/** Timers count in 32 bits; a longer wait is looked at again in between. */
const MAX_TIMER_MS = 24 * 3_600_000

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { records, orderRuns, maxRuns, onEnded, logger } = options
  const book = createOrderBook()
  const timers = new Map<Hex, NodeJS.Timeout>()
  /** Orders whose run an earlier server started. */
  const adopted = new Set<Hex>()
  let runningCount = 0
  let released = false
  let stopped = false

  function schedule(order: TrackedOrder, dueAt: number | null, reason: TriggerReason): void {
    order.dueAt = dueAt
    order.reason = reason
    clearTimeout(timers.get(order.orderId))
    timers.delete(order.orderId)
    if (dueAt === null || stopped) return
    const wait = dueAt - Date.now()
    if (wait <= 0) {
      wake(order.account)
      return
    }
    const timer = setTimeout(() => schedule(order, dueAt, reason), Math.min(wait, MAX_TIMER_MS))
    timer.unref()
    timers.set(order.orderId, timer)
  }

  function wake(account: Hex): void {
    book.wake(account)
    pump()
  }

  function pump(): void {
    while (released && !stopped && runningCount < maxRuns) {
      const order = book.next(Date.now())
      if (order === undefined) return
      order.running = true
      void occupied(order.account, () => runOnce(order))
    }
  }

  async function occupied(account: Hex, work: () => Promise<void>): Promise<void> {
    runningCount++
    book.occupy(account)
    try {
      await work()
    } finally {
      runningCount--
      book.release(account)
      pump()
    }
  }

  async function runOnce(order: TrackedOrder): Promise<void> {
    order.dueAt = null
    try {
      const run = await orderRuns.start(order)
      if (run !== undefined) return await followRun(order, run)
    } catch (error) {
      logger.error('run not started', { orderId: order.orderId, ...describeError(error) })
      schedule(order, Date.now() + STORAGE_RETRY_MS, order.reason)
    }
    order.running = false
  }

  /** Never rejects. */
  async function followRun(order: TrackedOrder, run: Run): Promise<void> {
    const end = await run.end
    // The next server picks it up from its file.
    if (stopped) return
    const { outcome, failures, dueAt } = await orderRuns.finish(run, end, order.failures)
    Object.assign(order, { running: false, failures, lastOutcome: outcome })
    if (isConcluded(order)) return void (await conclude(order).catch(notConcluded))
    // An envelope that came while a run without one was under way.
    if (outcome === 'rejected' && order.envelopeCame) return schedule(order, Date.now(), 'received')
    schedule(order, dueAt, 'retry')
    if (FINAL_OUTCOMES.has(outcome)) onEnded()
  }

  async function conclude(order: TrackedOrder): Promise<void> {
    schedule(order, null, 'retry')
    await records.finish(order.orderId)
    book.forget(order.orderId)
  }

  /** It stays among the open records until the next start looks at it. */
  function notConcluded(error: unknown): void {
    logger.error('order not concluded', describeError(error))
  }

  /** Runs an order for the envelope that has come, unless it has run with one already. */
  function receive(order: TrackedOrder | undefined, commit: Hex | undefined): void {
    if (order === undefined || order.state !== 'OPEN' || commit !== order.commit) return
    order.envelopeCame = true
    const isNew = order.lastOutcome === null || order.lastOutcome === 'rejected'
    if (isNew && !order.running && order.dueAt === null) schedule(order, Date.now(), 'received')
  }

  return {
    name: 'dispatcher',
    async start() {},
    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
    },
    find: (orderId) => book.get(orderId),
    release() {
      released = true
      pump()
    },
    adopt(run) {
      const { file } = run
      if (file.job !== 'order') return
      adopted.add(file.orderId)
      void occupied(file.account, async () => {
        const end = await run.end
        if (stopped) return
        adopted.delete(file.orderId)
        const order = book.get(file.orderId)
        if (order !== undefined) return followRun(order, run)
        await orderRuns.finish(run, end, 0)
      })
    },
    async opened(opened) {
      book.track(opened)
      const record = await records.get(opened.orderId)
      receive(book.get(opened.orderId), matchingCandidate(record, opened.commit)?.commit)
    },
    stored(orderId, commit) {
      const order = book.get(orderId)
      receive(order, commit)
      return order !== undefined
    },
    async resume(opened) {
      const order = book.track(opened)
      const record = await records.get(opened.orderId)
      order.running = adopted.has(order.orderId)
      if (record !== undefined) restore(order, record)
      if (order.running) return
      const envelope = matchingCandidate(record, opened.commit)
      schedule(order, dueAtStart(order, record), envelope === undefined ? 'recovered' : 'restart')
    },
    async closed(opened, state) {
      const known = book.get(opened.orderId)
      const record = known === undefined ? await records.get(opened.orderId) : undefined
      if (known === undefined && record === undefined) return
      const order = known ?? book.track(opened)
      if (record !== undefined) restore(order, record)
      if (known === undefined) order.running = adopted.has(order.orderId)
      order.state = state
      if (order.running) return
      if (isConcluded(order)) await conclude(order)
      else schedule(order, Date.now(), 'reclaimed')
    },
  }
}

function restore(order: TrackedOrder, record: OrderRecord): void {
  order.failures = failuresAtEnd(record.triggers)
  order.lastOutcome = record.triggers.at(-1)?.outcome ?? null
}

/** At once, but for what waits at the broker or for the market: that keeps its time. */
function dueAtStart(order: TrackedOrder, record: OrderRecord | undefined): number {
  const isWaiting = order.lastOutcome === 'queued' || order.lastOutcome === 'placed'
  const next = record?.nextTriggerAt ?? null
  return isWaiting && next !== null ? Math.max(Date.parse(next), Date.now()) : Date.now()
}

/** An ended escrow needs nothing more once the enclave says so; settling is the enclave's own doing. */
function isConcluded({ state, lastOutcome }: TrackedOrder): boolean {
  return (
    state === 'SETTLED' || (state === 'REFUNDED' && lastOutcome !== null && FINAL_OUTCOMES.has(lastOutcome))
  )
}
