import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, ProvisionalResult, RunResult } from '../../protocol/job.js'
import { MAX_TIMER_MS } from '../../protocol/timeLimit.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { Enclave } from '../enclave.js'
import type { Delivery } from './delivery.js'
import type { FinishedRun, RunTable } from './runTable.js'

/** Why a job is not taken. Nothing of it has begun then. */
type Refusal = 'keys-awaited' | 'run-too-late' | 'order-under-way' | 'too-many-runs'

const ABANDON_AFTER_MS = 30_000
const LAST_POSTS_MS = 15_000
/** Clocks differ: a job is refused as too late by this one's. */
const REMEMBERED_AFTER_STOP_MS = 60_000

/**
 * The runs of one process: each job is run once, however often it is offered, and its result posted. A finished job that is
 * offered again has its result posted again, because the server may have lost it.
 */
export function createResidentRuns(options: {
  /** Undefined until it has its keys. */
  readonly enclave: () => Enclave | undefined
  readonly table: RunTable
  readonly delivery: Delivery
  /** Runs at once. */
  readonly maxRuns: number
  /** After `stopAt` a run calls neither broker nor relay; this much later its last call is over, and the server starts another run. */
  readonly abandonAfterMs?: number
  /** Time for the last results when the process stops: more than one post takes. */
  readonly lastPostsMs?: number
  readonly logger: Logger
}) {
  const { enclave, table, delivery, maxRuns, abandonAfterMs = ABANDON_AFTER_MS, logger } = options
  const { lastPostsMs = LAST_POSTS_MS } = options
  /** `orderId` is null for a job about no order, `stopAt` in Unix seconds. */
  const underWay = new Map<string, { orderId: string | null; stopAt: number; noted: Promise<void> }>()
  const orders = new Set<string>()
  /** Finished runs whose results are being posted. */
  const delivering = new Set<string>()
  /** Runs and deliveries. */
  const work = new Set<Promise<void>>()
  let abandoned = 0
  let isStopping = false

  function track(task: Promise<void>): void {
    const tracked = task
      .catch((error: unknown) => logger.error('run not completed', describeError(error)))
      .finally(() => work.delete(tracked))
    work.add(tracked)
  }

  function refusalOf(job: Job): Refusal | undefined {
    if (enclave() === undefined) return 'keys-awaited'
    if (job.stopAt * 1_000 <= Date.now()) return 'run-too-late'
    if (job.job === 'order' && orders.has(job.orderId)) return 'order-under-way'
    return isStopping || underWay.size >= maxRuns ? 'too-many-runs' : undefined
  }

  /** Its run ends when it settles, or `abandonAfterMs` after `stopAt`: it may hang, and holds up no other. */
  async function resultOf(job: Job): Promise<RunResult> {
    const { runId, stopAt } = job
    let provisional: ProvisionalResult = {}
    const report = async ({ notice, code }: RunResult) => {
      await delivery.notice(job, { ...(notice && { notice }), ...(code && { code }) })
      provisional = { ...provisional, ...(notice && { notice }), ...(code && { code }) }
    }
    const deadline = new AbortController()
    const wait = Math.min(Math.max(0, stopAt * 1_000 + abandonAfterMs - Date.now()), MAX_TIMER_MS)
    const overdue = sleep(wait, undefined, { signal: deadline.signal, ref: false }).then(
      () => undefined,
      () => undefined,
    )
    try {
      const result = await Promise.race([enclave()?.run(job, report), overdue])
      if (result !== undefined) return result
      abandoned++
      logger.error('run abandoned', { runId, count: abandoned })
      return { code: 'out-of-time', ...provisional, outcome: 'failed' }
    } catch (error) {
      logger.error('run crashed', { runId, ...describeError(error) })
      return { code: 'internal-error', ...provisional, outcome: 'failed' }
    } finally {
      deadline.abort()
    }
  }

  async function execute(job: Job): Promise<void> {
    const { runId, stopAt } = job
    const result = await resultOf(job)
    try {
      await table.end(runId, result)
    } catch (error) {
      // The next boot posts that this run is over.
      logger.error('result not recorded', { runId, ...describeError(error) })
    }
    leave(runId)
    await deliver({ runId, stopAt, result })
  }

  async function deliver(run: FinishedRun): Promise<void> {
    if (delivering.has(run.runId)) return
    delivering.add(run.runId)
    try {
      if (await delivery.result(run)) await table.settle(run.runId)
    } finally {
      delivering.delete(run.runId)
    }
  }

  async function ended(): Promise<void> {
    while (work.size > 0) await Promise.all(work)
  }

  function leave(runId: string): void {
    const orderId = underWay.get(runId)?.orderId ?? null
    underWay.delete(runId)
    if (orderId !== null) orders.delete(orderId)
  }

  return {
    /** Notes the job durably, then has its run begin. @throws SQLite's error; nothing has begun then */
    async accept(job: Job): Promise<'accepted' | 'already-accepted' | Refusal> {
      const { runId, stopAt } = job
      const known = underWay.get(runId)
      if (known !== undefined) {
        await known.noted
        return 'already-accepted'
      }
      const earlier = table.find(runId)
      if (earlier !== undefined) {
        const { result } = earlier
        if (result !== undefined) track(deliver({ runId, stopAt: earlier.stopAt, result }))
        return 'already-accepted'
      }
      const refusal = refusalOf(job)
      if (refusal !== undefined) return refusal
      const orderId = job.job === 'order' ? job.orderId : null
      const noted = table.note({ runId, stopAt })
      underWay.set(runId, { orderId, stopAt, noted })
      if (orderId !== null) orders.add(orderId)
      try {
        await noted
      } catch (error) {
        leave(runId)
        throw error
      }
      track(execute(job))
      return 'accepted'
    },
    /** Posts what earlier boots have left. Call it once. */
    resume(): void {
      for (const run of table.left) track(deliver(run))
    },
    /** Forgets runs that the door would refuse as too late. */
    sweep: () => table.forget(Math.floor((Date.now() - REMEMBERED_AFTER_STOP_MS) / 1_000)),
    /**
     * Takes no further job; resolves when no run is under way, and every result is with the server or left to the next boot. What
     * still hangs when the last run must be over, such as a write to the disk, is left behind.
     */
    async stop(): Promise<void> {
      isStopping = true
      const over = [...underWay.values()].map(({ stopAt }) => stopAt * 1_000 + abandonAfterMs)
      const bound = Math.max(Date.now(), ...over) + lastPostsMs
      const done = new AbortController()
      const wait = Math.min(bound - Date.now(), MAX_TIMER_MS)
      const overdue = sleep(wait, undefined, { signal: done.signal }).catch(() => undefined)
      await Promise.race([ended(), overdue])
      done.abort()
    },
    /** Runs under way; and how many were abandoned because they had not ended long after `stopAt`. */
    counts: () => ({ runs: underWay.size, abandoned }),
    /** Whether jobs are refused because the enclave has no keys yet. */
    awaitsKeys: () => enclave() === undefined,
  }
}

export type ResidentRuns = ReturnType<typeof createResidentRuns>
