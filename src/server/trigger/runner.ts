import { randomUUID } from 'node:crypto'
import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { type Job, RESTARTED, type RunResult } from '../../protocol/job.js'
import { describeError, type LogFields, type Logger } from '../../service/logger.js'
import type { ProcessIdentity } from '../../service/processIdentity.js'
import type { ChainPosition } from '../escrow/escrowLogs.js'
import type { RunRecord, RunRecords } from '../store/runRecords.js'

/** How a run ended. Only `result` is definite; after any other ending the job may be tried again. */
type RunEnding =
  /** It left a complete, valid result. */
  | 'result'
  /** It exited and left none. */
  | 'no-result'
  /** It left an invalid result. */
  | 'garbage'
  /** It did not end in time. */
  | 'timeout'
  /** The program could not be started, or the enclave's host refused the job. */
  | 'not-started'

export interface RunEnd {
  readonly how: RunEnding
  /** Null when a signal ended it, or this server did not see it exit. */
  readonly exitCode: number | null
  /** With `result`; and with `timeout` the provisional `failed` that may hold a notice. */
  readonly result: RunResult | null
}

/** One run under way. */
export interface StartedRun {
  /** Never rejects; resolves 30 s after `stopAt` at the latest. */
  readonly end: Promise<RunEnd>
}

/**
 * Records that a run is about to begin, so that a successor of this server knows of it.
 * @param process null for a run elsewhere than on this machine
 */
export type NoteRun = (process: ProcessIdentity | null) => Promise<void>

/** A run of an earlier server, from its row. */
export interface EarlierRun {
  readonly runId: string
  readonly process: ProcessIdentity | null
  readonly resultFile: string
  /** Unix milliseconds, where it is known. */
  readonly startedAt?: number
  /** Unix seconds. */
  readonly stopAt: number
}

/** Milliseconds until `stopAt`, at most those at the run's start: the clock may have been set back since. */
export function timeLeft({ startedAt, stopAt }: Pick<EarlierRun, 'startedAt' | 'stopAt'>): number {
  return stopAt * 1_000 - Math.max(startedAt ?? 0, Date.now())
}

/** Outcomes of an order that the chain shows. */
export type ShownOutcome = 'settled' | 'refunded'

/**
 * Runs jobs in a process of this machine, or elsewhere over HTTP. Once `over` aborts, this server stops following the run and
 * offering its job, and its end may never resolve.
 */
export interface EnclaveRunner {
  /**
   * Starts a run. The enclave gets the job only once the run is recorded; a program that can't be started is not recorded.
   * @throws the error of `note`; no run is under way then
   */
  run(job: Job, note: NoteRun, over?: AbortSignal): Promise<StartedRun>
  /** Waits for the end of a run that this server did not start. Never rejects. */
  attach(run: EarlierRun, over?: AbortSignal): Promise<RunEnd>
  /**
   * Offers the job of an attached run again, unless an enclave is known to have taken it: the earlier server may have ended
   * before its offer arrived.
   */
  offerAgain(job: Job): void
  /** The chain shows a run's effect. Where the run's end is not visible and no result arrives, the run ends with that. */
  seenOnChain(runId: string, outcome: ShownOutcome): void
}

/** After `stopAt` the enclave calls neither broker nor relay; this much later its last call is over, too. */
export const STOPPED_AFTER_MS = 30_000

/** The most bytes of a result, in its file or posted: far more than a notice of 4 KiB takes in hex. */
export const MAX_RESULT_BYTES = 65_536

/** Milliseconds until a run is certainly over. */
export function msUntilOver({ startedAt, stopAt }: Pick<RunRecord, 'startedAt' | 'stopAt'>): number {
  return timeLeft({ startedAt: Date.parse(startedAt), stopAt }) + STOPPED_AFTER_MS
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
  ['broker-unreadable', 'error'],
  ['broker-unauthorized', 'error'],
  ['broker-refused', 'warn'],
  ['broker-rate-limited', 'warn'],
  ['broker-unavailable', 'warn'],
  [RESTARTED, 'warn'],
])

/** Logs the end of a run at its code's level in `ALARMING`; with any other code, a failed run is a warning. */
export function logRunEnd(logger: Logger, message: string, { how, result }: RunEnd, fields: LogFields): void {
  const code = result?.code
  const hasFailed = how !== 'result' || result === null || result.outcome === 'failed'
  const level = ALARMING.get(code ?? '') ?? (hasFailed ? 'warn' : 'info')
  logger[level](message, { ...fields, code })
}

/** Observes each run of the enclave, for metrics. */
export interface RunObserver {
  started(job: Job['job']): void
  ended(job: Job['job'], end: RunEnd, durationMs: number): void
  /** The run goes on, and another server follows it. */
  left(job: Job['job']): void
}

/** A job without the fields of its run. */
export type RunRequest =
  | {
      readonly job: 'order'
      readonly orderId: Hex
      readonly account: Hex
      readonly attempt: number
      readonly envelope?: Envelope
      readonly cancel?: Envelope
      readonly openedAt: ChainPosition
    }
  | {
      readonly job: 'policy'
      readonly envelope: Envelope
      /** The rest of its time. */
      readonly timeoutMs: number
    }
  | { readonly job: 'reconcile' }

/** One run of the enclave under way. */
export interface Run {
  readonly record: RunRecord
  /** Never rejects. */
  readonly end: Promise<RunEnd>
  /** The chain shows the end of its order. */
  seenOnChain(outcome: ShownOutcome): void
  /** Removes the run's row, once its end is recorded. Never rejects. */
  discard(): Promise<void>
}

/** A run that an earlier server started. */
export interface AdoptedRun extends Run {
  /** See `EnclaveRunner`. The request need not equal the first one: an enclave runs a `runId` once. */
  offerAgain(request: RunRequest): void
}

/** Starts runs so that a successor of this server knows of them. */
export interface Runs {
  /**
   * Stores the run's row, then starts it.
   * @throws StorageError; no run has started then
   */
  start(request: RunRequest): Promise<Run>
  /** Follows runs that other servers left and that `isLeft` selects. */
  adopt(isLeft: (run: RunRecord) => boolean): Promise<AdoptedRun[]>
  /** Whether the run was started or adopted here, and its row is not removed yet. */
  has(runId: string): boolean
  /** Removes the rows of finished runs that were neither started nor adopted here. */
  clear(): Promise<void>
}

export interface RunsOptions {
  readonly runRecords: RunRecords
  readonly runner: EnclaveRunner
  /** Milliseconds that a run may take. */
  readonly timeouts: { readonly order: number; readonly reconcile: number }
  /** Aborts when another server may follow the runs. */
  readonly over?: AbortSignal
  readonly observer?: RunObserver | undefined
  readonly logger: Logger
}

/** How far the clock of the server that started a run may be behind. */
const CLOCKS_DIFFER_MS = 30_000

export function createRuns({ runRecords, runner, timeouts, over, observer, logger }: RunsOptions): Runs {
  const own = new Set<string>()
  /** Finished runs whose rows could not be removed: their accounts could start no further run. */
  const ended = new Set<string>()

  function toRun(record: RunRecord, end: Promise<RunEnd>): Run {
    const startedAt = Date.parse(record.startedAt)
    observer?.started(record.job)
    const onOver = () => observer?.left(record.job)
    over?.addEventListener('abort', onOver, { once: true })
    const logged = end.then((ended) => {
      over?.removeEventListener('abort', onOver)
      const durationMs = Date.now() - startedAt
      const { how: reason, exitCode } = ended
      const fields = { runId: record.runId, job: record.job, reason, exitCode, durationMs }
      if (over?.aborted !== true) observer?.ended(record.job, ended, durationMs)
      // The scheduler logs the outcome of an order's run.
      if (record.job === 'order') logger.info('enclave run ended', fields)
      else logRunEnd(logger, 'enclave run ended', ended, { ...fields, outcome: ended.result?.outcome })
      return ended
    })
    return {
      record,
      end: logged,
      seenOnChain: (outcome) => runner.seenOnChain(record.runId, outcome),
      discard: () => discard(record.runId),
    }
  }

  /** After a failure, the next start of a run retries, or the next server, which finds that the run has ended. */
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
    async start(request) {
      const record = newRunRecord(
        request,
        request.job === 'policy' ? request.timeoutMs : timeouts[request.job],
      )
      await Promise.all([...ended].map(discard))
      own.add(record.runId)
      const job = toJob(request, record, runRecords.resultPath(record.runId))
      try {
        const { end } = await runner.run(job, (process) => runRecords.create({ ...record, process }), over)
        return toRun(record, end)
      } catch (error) {
        // Its row may have been written despite the error.
        ended.add(record.runId)
        throw error
      }
    },
    async adopt(isLeft) {
      const earlier = (await runRecords.all()).filter((record) => !own.has(record.runId) && isLeft(record))
      return earlier.map((record) => {
        const { runId, process, stopAt } = record
        own.add(runId)
        const startedAt = Date.parse(record.startedAt)
        const resultFile = runRecords.resultPath(runId)
        const run = toRun(record, runner.attach({ runId, process, startedAt, stopAt, resultFile }, over))
        return { ...run, offerAgain: (request) => runner.offerAgain(toJob(request, record, resultFile)) }
      })
    },
    has: (runId) => own.has(runId),
    async clear() {
      const all = await runRecords.all()
      const left = all.filter((run) => !own.has(run.runId) && msUntilOver(run) + CLOCKS_DIFFER_MS < 0)
      await Promise.all(left.map(({ runId }) => discard(runId)))
    },
  }
}

function newRunRecord(request: RunRequest, timeoutMs: number): RunRecord {
  const now = Date.now()
  const common = {
    runId: randomUUID(),
    startedAt: new Date(now).toISOString(),
    stopAt: Math.ceil((now + timeoutMs) / 1_000),
    process: null,
  }
  if (request.job !== 'order') return { job: request.job, ...common }
  const { job, orderId, account, attempt } = request
  return { job, orderId, account, attempt, ...common }
}

function toJob(request: RunRequest, { runId, stopAt }: RunRecord, resultFile: string): Job {
  const common = { runId, stopAt, resultFile }
  switch (request.job) {
    case 'order':
      return {
        job: 'order',
        ...common,
        orderId: request.orderId,
        openedAt: request.openedAt,
        ...(request.envelope !== undefined && { envelope: request.envelope }),
        ...(request.cancel !== undefined && { cancel: request.cancel }),
      }
    case 'policy':
      return { job: 'policy', ...common, envelope: request.envelope }
    case 'reconcile':
      return { job: 'reconcile', ...common }
  }
}
