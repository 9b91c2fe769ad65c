import type { TriggerReason, TriggerRecord } from '../../../protocol/api.js'
import type { Hex } from '../../../protocol/hex.js'
import type { Outcome, RunResult } from '../../../protocol/job.js'
import { describeError, type Logger } from '../../logger.js'
import {
  emptyOrderRecord,
  matchingCandidate,
  type OrderRecord,
  type OrderRecords,
  withDigests,
} from '../../store/orderRecords.js'
import type { TrackedOrder } from '../queue/trackedOrder.js'
import { type FollowUpTimes, nextRunAt, orderOutcome } from './followUp.js'
import { logRunEnd } from './runLog.js'
import type { RunEnd } from './runner.js'
import type { Run, Runs } from './runs.js'

/** The latest runs of an order that its record keeps; their numbers tell of the earlier ones. */
const MAX_TRIGGERS = 50

/** Runs of orders, each noted in the order's record before it starts and after it ends. */
export interface OrderRuns {
  /**
   * Starts a run of the order. Undefined when there is nothing to run: a run on receipt needs the envelope.
   * @throws StorageError; nothing is started then
   */
  start(order: TrackedOrder): Promise<Run | undefined>
  /** Notes how a run ended. Never rejects: what can't be written now is found again by the next start. */
  finish(run: Run, end: RunEnd, failuresBefore: number): Promise<EndedOrderRun>
}

export interface EndedOrderRun {
  readonly outcome: Outcome
  /** Runs in a row that failed, this one included. */
  readonly failures: number
  /** Unix milliseconds of the next run. */
  readonly dueAt: number | null
}

export function createOrderRuns(options: {
  readonly records: OrderRecords
  readonly runs: Runs
  readonly times: FollowUpTimes
  /** The authorizations to end an order that were relayed. */
  readonly relayedDigests: (orderId: Hex) => readonly Hex[]
  readonly logger: Logger
}): OrderRuns {
  const { records, runs, times, relayedDigests, logger } = options
  return {
    async start(order) {
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
      const job = { job: 'order', orderId, account, attempt } as const
      return runs.start(candidate === undefined ? job : { ...job, envelope: candidate.envelope })
    },

    async finish(run, end, failuresBefore) {
      const ended = orderOutcome(end)
      const { outcome } = ended
      const failures = outcome === 'failed' ? failuresBefore + 1 : 0
      const dueAt = nextRunAt(ended, failures, Date.now(), times)
      if (run.file.job !== 'order') return { outcome, failures, dueAt }
      const { orderId, attempt } = run.file
      logRunEnd(logger, 'order run ended', end, { orderId, attempt, outcome, runId: run.file.runId })
      try {
        const digests = relayedDigests(orderId)
        await records.update(orderId, (current) => ({
          ...withOutcome(withDigests(current ?? emptyOrderRecord(orderId), digests), attempt, outcome),
          nextTriggerAt: isoOrNull(dueAt),
          ...noticeAfter(ended),
        }))
        await run.discard()
      } catch (error) {
        logger.error('run not recorded', { orderId, attempt, ...describeError(error) })
      }
      return { outcome, failures, dueAt }
    },
  }
}

/** Opens the next trigger; one that was never closed belongs to a run that nobody knows of any more. */
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

function withOutcome(record: OrderRecord, attempt: number, outcome: Outcome): OrderRecord {
  const finishedAt = new Date().toISOString()
  const triggers = record.triggers.map((trigger) =>
    trigger.attempt === attempt ? { ...trigger, finishedAt, outcome } : trigger,
  )
  return { ...record, triggers }
}

/** What is settled was not refused: an earlier run had left its notice and did not get to the refund. */
function noticeAfter({ outcome, notice }: Pick<RunResult, 'outcome' | 'notice'>): Partial<OrderRecord> {
  if (outcome === 'settled') return { notice: null }
  return notice === undefined ? {} : { notice }
}

function isoOrNull(unixMs: number | null): string | null {
  return unixMs === null ? null : new Date(Math.min(unixMs, MAX_DATE_MS)).toISOString()
}

/** The last moment with a four-digit year, as ISO 8601 texts have it. */
const MAX_DATE_MS = Date.UTC(9999, 11, 31)

/** The run of failures at a history's end. */
export function failuresAtEnd(triggers: readonly TriggerRecord[]): number {
  let failures = 0
  while (triggers.at(-1 - failures)?.outcome === 'failed') failures++
  return failures
}
