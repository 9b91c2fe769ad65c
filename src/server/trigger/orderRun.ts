import type { TriggerReason, TriggerRecord } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { RESTARTED, type RunResult } from '../../protocol/job.js'
import {
  FINAL_OUTCOMES,
  isToldByNotice,
  type Outcome,
  outcomeSchema,
  type WaitReason,
  waitReasonSchema,
} from '../../protocol/outcome.js'
import { describeError, type Logger } from '../../service/logger.js'
import {
  emptyOrderRecord,
  matchingCandidate,
  type OrderRecord,
  type OrderRecords,
} from '../store/orderRecords.js'
import { monotonic, type TrackedOrder } from './orderQueue.js'
import { logRunEnd, type Run, type RunEnd, type Runs } from './runner.js'

/** How many of an order's latest runs its record keeps. Attempts are numbered on. */
const MAX_TRIGGERS = 50

/** Runs of orders; the order's record has each one before it starts and after it ends. */
export type OrderRuns = ReturnType<typeof createOrderRuns>

export interface EndedOrderRun {
  readonly outcome: Outcome
  readonly failures: number
  /** When it runs next, in Unix milliseconds; null when it needs no further run. */
  readonly nextTriggerAt: number | null
  /** The same time by the monotonic clock. */
  readonly dueAt: number | null
  /** Why the order waits; only beside `queued`. */
  readonly waitsFor?: WaitReason | undefined
}

export function createOrderRuns(options: {
  readonly records: OrderRecords
  readonly runs: Pick<Runs, 'start'>
  readonly times: RetryTimes
  readonly logger: Logger
}) {
  const { records, runs, times, logger } = options

  /** Whether the end is recorded. A failure is logged once, because a disk may be full for hours. */
  async function writeEnd(
    orderId: Hex,
    change: (current: OrderRecord) => OrderRecord,
    again: () => Promise<boolean>,
  ): Promise<boolean> {
    for (let tries = 0; ; tries++) {
      try {
        await records.update(orderId, (current) => change(current ?? emptyOrderRecord(orderId)))
        if (tries > 0) logger.info('run recorded', { orderId })
        return true
      } catch (error) {
        if (tries === 0) logger.error('run not recorded', { orderId, ...describeError(error) })
        if (!(await again())) return false
      }
    }
  }

  /**
   * An order's first run saves the read unless a cancel is known. A later one always asks: a reorganization may have opened the
   * order again after the end that its cancel had brought.
   */
  async function cancelOf({ orderId, cancelCommit }: TrackedOrder, attempt: number) {
    return cancelCommit !== undefined || attempt > 1 ? records.cancels.get(orderId) : undefined
  }

  return {
    /**
     * Starts a run of the order. Undefined when a run on receipt lacks its envelope.
     * @throws StorageError; no run has started then
     */
    async start(order: TrackedOrder): Promise<Run | undefined> {
      const { orderId, account, commit, reason } = order
      const open = order.state === 'OPEN'
      const record = await records.update(orderId, (current) => {
        const envelope = open ? matchingCandidate(current, commit) : undefined
        if (envelope === undefined && reason === 'received') return undefined
        const base = current ?? emptyOrderRecord(orderId)
        const candidates = envelope === undefined ? base.candidates : [envelope]
        return withTrigger({ ...base, candidates, escrowCommit: commit }, reason)
      })
      const attempt = record?.triggers.at(-1)?.attempt
      if (record === undefined || attempt === undefined) return undefined
      const candidate = open ? matchingCandidate(record, commit) : undefined
      const cancel = open ? await cancelOf(order, attempt) : undefined
      return runs.start({
        ...{ job: 'order', orderId, account, attempt, openedAt: order.position },
        envelope: candidate?.envelope,
        cancel: cancel?.envelope,
      })
    },

    /**
     * Records how a run ended, and retries for as long as `again` resolves with true. Never rejects. Undefined when it is not
     * recorded: the run's row stays, and the next start finds it.
     */
    async finish(
      run: Run,
      end: RunEnd,
      failuresBefore: number,
      again: () => Promise<boolean>,
    ): Promise<EndedOrderRun | undefined> {
      const ended = orderOutcome(end)
      const { outcome } = ended
      const failures = outcome === 'failed' ? failuresBefore + 1 : 0
      const nextTriggerAt = nextRunAt(ended, failures, Date.now(), times)
      const dueAt = nextTriggerAt === null ? null : monotonic(nextTriggerAt)
      if (run.record.job !== 'order') return { outcome, failures, nextTriggerAt, dueAt }
      const { orderId, attempt } = run.record
      logRunEnd(logger, 'order run ended', end, { orderId, attempt, outcome, runId: run.record.runId })
      const waitsFor = waitReasonOf(ended)
      const finishedAt = new Date().toISOString()
      const change = (current: OrderRecord) => ({
        ...withEnd(current, attempt, { outcome, finishedAt, ...(waitsFor && { waitsFor }) }),
        nextTriggerAt: isoOrNull(nextTriggerAt),
        ...noticeAfter(
          ended,
          current.triggers.findLast((trigger) => trigger.attempt < attempt),
        ),
      })
      if (!(await writeEnd(orderId, change, again))) return undefined
      await run.discard()
      return { outcome, failures, nextTriggerAt, dueAt, waitsFor }
    },
  }
}

/** Opens the next trigger. An open one belongs to a run whose record is lost, and counts as failed. */
function withTrigger(record: OrderRecord, reason: TriggerReason): OrderRecord {
  const earlier = record.triggers.map(closeLost)
  const attempt = (earlier.at(-1)?.attempt ?? 0) + 1
  const startedAt = new Date().toISOString()
  const trigger: TriggerRecord = { attempt, reason, startedAt, finishedAt: null, outcome: null }
  return { ...record, triggers: [...earlier, trigger].slice(-MAX_TRIGGERS), nextTriggerAt: null }
}

function closeLost(trigger: TriggerRecord): TriggerRecord {
  if (trigger.finishedAt !== null) return trigger
  return { ...trigger, finishedAt: new Date().toISOString(), outcome: 'failed' }
}

function withEnd(
  record: OrderRecord,
  attempt: number,
  end: Pick<TriggerRecord, 'outcome' | 'finishedAt' | 'waitsFor'>,
): OrderRecord {
  const triggers = record.triggers.map((trigger) =>
    trigger.attempt === attempt ? { ...trigger, ...end } : trigger,
  )
  return { ...record, triggers }
}

/**
 * A settled order was not refused, so the notice of an earlier run that prepared a refund is void. So is one that said why the order
 * waited for its turn.
 */
function noticeAfter(
  { outcome, notice }: Pick<RunResult, 'outcome' | 'notice'>,
  before: TriggerRecord | undefined,
): Partial<OrderRecord> {
  if (outcome === 'settled') return { notice: notice ?? null }
  if (notice !== undefined) return { notice }
  return isToldByNotice(before?.waitsFor) ? { notice: null } : {}
}

function isoOrNull(unixMs: number | null): string | null {
  return unixMs === null ? null : new Date(Math.min(unixMs, MAX_DATE_MS)).toISOString()
}

/** The last moment with a four-digit year, as ISO 8601 texts have it. */
const MAX_DATE_MS = Date.UTC(9999, 11, 31)

export function failuresAtEnd(triggers: readonly TriggerRecord[]): number {
  let failures = 0
  while (triggers.at(-1 - failures)?.outcome === 'failed') failures++
  return failures
}

/** Milliseconds between the runs of one order. */
export type RetryTimes = Readonly<typeof RETRY_TIMES>

export const RETRY_TIMES = {
  /** The longest after a first failure; doubled with each further one. */
  failedMs: 2_000,
  /** The longest wait after a failure. */
  failedMaxMs: 15 * 60_000,
  /** The wait of `queued` and `placed` without a time, and of `queued` with a time that is past by this clock. */
  waitingMs: 15_000,
  /** The shortest wait, however early a run asks for the next one. */
  leastMs: 500,
  /** Pause before a failed write of a run's start or end is retried. */
  storageMs: 5_000,
  /** Pause between two polls of the escrow; after an act of this server the next poll follows immediately. */
  escrowMs: 2_000,
}

const ORDER_OUTCOMES: ReadonlySet<Outcome> = new Set(
  outcomeSchema.options.filter((outcome) => outcome !== 'accepted'),
)

/** The outcome of an order's run. Anything else than a result of such a run is a failure; it keeps its notice. */
export function orderOutcome(end: RunEnd): Pick<RunResult, 'outcome' | 'retryAt' | 'notice' | 'code'> {
  const { result } = end
  if (end.how === 'result' && result !== null && ORDER_OUTCOMES.has(result.outcome)) return result
  return { outcome: 'failed', ...(result?.notice !== undefined && { notice: result.notice }) }
}

/** The reason that a queued order waits, where the run names one that the platform knows. */
export function waitReasonOf({ outcome, code }: Pick<RunResult, 'outcome' | 'code'>): WaitReason | undefined {
  return outcome === 'queued' ? waitReasonSchema.safeParse(code).data : undefined
}

/**
 * When an order runs again, in Unix milliseconds; null when it needs no further run. The wait after a failure is cut by up to
 * half at random, so that orders that failed together do not return together. A run whose enclave was restarted did not fail
 * by itself, so its order runs again immediately. One that has failed before may be what crashes the enclave, and waits.
 * @param failures how many runs in a row failed, this one included
 * @param random from 0 up to 1
 */
export function nextRunAt(
  { outcome, retryAt, code }: Pick<RunResult, 'outcome' | 'retryAt' | 'code'>,
  failures: number,
  now: number,
  times: RetryTimes,
  random: () => number = Math.random,
): number | null {
  if (FINAL_OUTCOMES.has(outcome)) return null
  const retryMs = retryAt === undefined ? undefined : retryAt * 1_000
  // The market is still closed by the broker's clock: this clock is ahead.
  if (outcome === 'queued' && retryMs !== undefined && retryMs <= now) return now + times.waitingMs
  if (retryMs !== undefined) return Math.max(retryMs, now + times.leastMs)
  if (outcome !== 'failed') return now + times.waitingMs
  if (code === RESTARTED && failures === 1) return now + times.leastMs
  const longest = Math.min(times.failedMs * 2 ** (failures - 1), times.failedMaxMs)
  return now + Math.round(longest * (1 - random() / 2))
}
