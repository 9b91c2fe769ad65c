import {
  FINAL_OUTCOMES,
  type Outcome,
  RESTARTED,
  type RunResult,
  type WaitReason,
  waitReasonSchema,
} from '../../protocol/job.js'
import type { RunEnd } from './runner.js'

/** Milliseconds between the runs of one order. */
export interface RetryTimes {
  /** The longest after a first failure; doubled with each further one. */
  readonly failedMs: number
  /** The longest wait after a failure. */
  readonly failedMaxMs: number
  /** For `queued` and `placed` without a time, and for `queued` with a time that is past by this clock. */
  readonly waitingMs: number
  /** The shortest wait, however early a run asks for the next one. */
  readonly leastMs: number
  /** Between two looks of a waiting order at the system clock, which may have been set, or have gone on while the machine slept. */
  readonly clockIntervalMs: number
}

export const RETRY_TIMES: RetryTimes = {
  failedMs: 2_000,
  failedMaxMs: 15 * 60_000,
  waitingMs: 15_000,
  leastMs: 500,
  clockIntervalMs: 30_000,
}

const ORDER_OUTCOMES: ReadonlySet<Outcome> = new Set([
  'settled',
  'refunded',
  'placed',
  'queued',
  'rejected',
  'done',
  'failed',
])

/** The outcome of an order's run. Anything else than a result of such a run is a failure; it keeps its notice. */
export function orderOutcome(end: RunEnd): Pick<RunResult, 'outcome' | 'retryAt' | 'notice' | 'code'> {
  const { result } = end
  if (end.how === 'result' && result !== null && ORDER_OUTCOMES.has(result.outcome)) return result
  return { outcome: 'failed', ...(result?.notice !== undefined && { notice: result.notice }) }
}

/** The reason that a queued order waits, unless it is the market or the broker. */
export function waitReasonOf({ outcome, code }: Pick<RunResult, 'outcome' | 'code'>): WaitReason | undefined {
  return outcome === 'queued' ? waitReasonSchema.safeParse(code).data : undefined
}

/**
 * When an order runs again, in Unix milliseconds; null when it needs no further run. The wait after a failure is cut by up to
 * half at random, so that orders that failed together do not return together. A run whose enclave was restarted did not fail
 * by itself: its order runs again immediately, unless it has failed before, because it may be what crashes the enclave.
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
  // By the broker's clock the market is still closed: this clock is ahead.
  if (outcome === 'queued' && retryMs !== undefined && retryMs <= now) return now + times.waitingMs
  if (retryMs !== undefined) return Math.max(retryMs, now + times.leastMs)
  if (outcome !== 'failed') return now + times.waitingMs
  if (code === RESTARTED && failures === 1) return now + times.leastMs
  const longest = Math.min(times.failedMs * 2 ** (failures - 1), times.failedMaxMs)
  return now + Math.round(longest * (1 - random() / 2))
}
