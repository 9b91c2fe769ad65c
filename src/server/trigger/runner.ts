import { randomUUID } from 'node:crypto'
import type { Hex } from '../../protocol/hex.js'
import { type Job, RESTARTED, type RunResult } from '../../protocol/job.js'
import { describeError, type LogFields, type Logger } from '../../service/logger.js'
import type { RunRecord, RunRecords } from '../store/runRecords.js'

export interface RunEnd {
  /** `not-started`: no enclave accepted the job. Only `result` is definite; after any other ending the job may be tried again. */
  readonly how: 'result' | 'timeout' | 'not-started'
  /** The result, or the provisional `failed` of a `timeout`, which may have a notice. */
  readonly result: RunResult | null
}

type RunTime = Pick<RunRecord, 'startedAt' | 'stopAt'>

/**
 * Offers jobs to the enclave and follows its runs, whose rows are stored. Once `over` aborts, this server stops following the run
 * and offering its job, and its end may never resolve.
 */
export interface EnclaveRunner {
  /** Offers the job and waits for the end of its run, 30 s after `stopAt` at the latest. Never rejects. */
  run(job: Job, time: RunTime, over?: AbortSignal): Promise<RunEnd>
  /** Waits for the end of a run that this server did not start. Never rejects. */
  attach(run: Pick<RunRecord, 'runId'> & RunTime, over?: AbortSignal): Promise<RunEnd>
  /**
   * Offers the job of an attached run again, unless an enclave is known to have accepted it. The earlier server may have ended before
   * its offer arrived.
   */
  offerAgain(job: Job): void
}

/** The enclave calls neither broker nor relay after `stopAt`; this much later its last call is over, too. */
const STOPPED_AFTER_MS = 30_000

/** Milliseconds until a run is certainly over. They are at most those at its start, because the clock may have been set back since. */
export function msUntilOver({ startedAt, stopAt }: RunTime): number {
  return stopAt * 1_000 - Math.max(Date.parse(startedAt), Date.now()) + STOPPED_AFTER_MS
}

/**
 * Codes of a run that an operator must see, and their log levels. `error`: money is lost, or orders stall until an operator
 * acts. `warn`: the next run may succeed, or the platform only has to book a difference.
 */
export const ALARMING: ReadonlyMap<string, 'error' | 'warn'> = new Map([
  ['reclaimed-after-fill', 'error'],
  ['cost-over-notional', 'warn'],
  ['ledger-unreadable', 'error'],
  ['broker-mismatch', 'error'],
  ['broker-shared', 'error'],
  ['broker-unreadable', 'error'],
  ['broker-unauthorized', 'error'],
  ['broker-refused', 'warn'],
  ['broker-rate-limited', 'warn'],
  ['broker-unavailable', 'warn'],
  ['actions-unknown', 'error'],
  [RESTARTED, 'warn'],
])

/** Logs the end of a run at its code's level in `ALARMING`; with any other code, a failed run is a warning. */
export function logRunEnd(logger: Logger, message: string, { how, result }: RunEnd, fields: LogFields): void {
  const code = result?.code
  const hasFailed = how !== 'result' || result === null || result.outcome === 'failed'
  const level = ALARMING.get(code ?? '') ?? (hasFailed ? 'warn' : 'info')
  logger[level](message, { ...fields, code })
}

export interface RunObserver {
  started(job: Job['job']): void
  ended(job: Job['job'], end: RunEnd, durationMs: number): void
  /** The run goes on, and another server follows it. */
  handedOver(job: Job['job']): void
}

type JobOfRun<Each> = Each extends Job ? Omit<Each, 'runId' | 'stopAt'> : never

type RunRequest =
  | (JobOfRun<Extract<Job, { job: 'order' }>> & { readonly account: Hex; readonly attempt: number })
  | JobOfRun<Exclude<Job, { job: 'order' }>>

export interface Run {
  readonly record: RunRecord
  /** Never rejects. */
  readonly end: Promise<RunEnd>
  /**
   * Attaches to a run that an earlier server started: see `EnclaveRunner`. The request need not equal the first one, because an enclave runs
   * a `runId` once.
   */
  offerAgain?(request: RunRequest): void
  /** Removes the run's row, once its end is recorded. Never rejects. */
  discard(): Promise<void>
}

/** Starts runs so that a successor of this server knows of them. */
export type Runs = ReturnType<typeof createRuns>

/** How far the clock of the server that started a run may be behind. */
const CLOCKS_DIFFER_MS = 30_000

export function createRuns(options: {
  readonly runRecords: RunRecords
  readonly runner: EnclaveRunner
  readonly timeoutMs: number
  /** Aborts when another server may follow the runs. */
  readonly over?: AbortSignal
  readonly runObserver?: RunObserver | undefined
  readonly logger: Logger
}) {
  const { runRecords, runner, over, runObserver: observer, logger } = options
  const own = new Set<string>()
  /** Finished runs whose rows could not be removed: their accounts could start no further run. */
  const ended = new Set<string>()

  function toRun(record: RunRecord, end: Promise<RunEnd>): Run {
    const startedAt = Date.parse(record.startedAt)
    observer?.started(record.job)
    const onOver = () => observer?.handedOver(record.job)
    over?.addEventListener('abort', onOver, { once: true })
    const logged = end.then((ended) => {
      over?.removeEventListener('abort', onOver)
      const durationMs = Date.now() - startedAt
      const fields = { runId: record.runId, job: record.job, reason: ended.how, durationMs }
      if (over?.aborted !== true) observer?.ended(record.job, ended, durationMs)
      // The scheduler logs the outcome of an order's run.
      if (record.job === 'order') logger.info('enclave run ended', fields)
      else logRunEnd(logger, 'enclave run ended', ended, { ...fields, outcome: ended.result?.outcome })
      return ended
    })
    return { record, end: logged, discard: () => discard(record.runId) }
  }

  /** The next start of a run retries after a failure, or the next server, which finds that the run has ended. */
  async function discard(runId: string): Promise<void> {
    try {
      await runRecords.remove(runId)
      ended.delete(runId)
      own.delete(runId)
    } catch (error) {
      ended.add(runId)
      logger.warn('run record not removed', { runId, ...describeError(error) })
    }
  }

  return {
    /** Stores the run's row, then starts it. @throws StorageError; no run has started then */
    async start(request: RunRequest, timeoutMs = options.timeoutMs): Promise<Run> {
      const record = newRunRecord(request, timeoutMs)
      await Promise.all([...ended].map(discard))
      own.add(record.runId)
      try {
        await runRecords.create(record)
      } catch (error) {
        // Its row may have been written despite the error.
        ended.add(record.runId)
        throw error
      }
      return toRun(record, runner.run(toJob(request, record), record, over))
    },
    /** Follows runs of other servers that `isAbandoned` selects. */
    async adopt(isAbandoned: (run: RunRecord) => boolean): Promise<Run[]> {
      const earlier = (await runRecords.all()).filter(
        (record) => !own.has(record.runId) && isAbandoned(record),
      )
      return earlier.map((record) => {
        own.add(record.runId)
        const run = toRun(record, runner.attach(record, over))
        return { ...run, offerAgain: (request) => runner.offerAgain(toJob(request, record)) }
      })
    },
    /**
     * Removes rows that were neither started nor adopted here: those of finished runs, and those of failed starts that were written all
     * the same. Call it once the runs of earlier servers are adopted.
     */
    async clear() {
      const all = await runRecords.all()
      const over = all.filter((run) => !own.has(run.runId) && (isOfFailedStart(run) || isCertainlyOver(run)))
      await Promise.all(over.map(({ runId }) => discard(runId)))
    },
  }
}

const isCertainlyOver = (run: RunRecord) => msUntilOver(run) + CLOCKS_DIFFER_MS < 0

/**
 * Only the holder of the lease starts such runs. So a row that it has neither adopted nor started was written after its start had
 * failed. No enclave was offered the job, and its account could start no other run until its time is over.
 */
const isOfFailedStart = ({ job }: RunRecord) => job === 'order' || job === 'reconcile'

function newRunRecord(request: RunRequest, timeoutMs: number): RunRecord {
  const now = Date.now()
  const common = {
    runId: randomUUID(),
    startedAt: new Date(now).toISOString(),
    stopAt: Math.ceil((now + timeoutMs) / 1_000),
  }
  if (request.job !== 'order') return { job: request.job, ...common }
  const { job, orderId, account, attempt } = request
  return { job, orderId, account, attempt, ...common }
}

function toJob(request: RunRequest, { runId, stopAt }: RunRecord): Job {
  if (request.job !== 'order') return { ...request, runId, stopAt }
  const { account: _, attempt: __, ...job } = request
  return { ...job, runId, stopAt }
}
