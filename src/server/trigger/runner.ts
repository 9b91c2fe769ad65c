import { randomUUID } from 'node:crypto'
import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { type Job, RESTARTED, type RunResult } from '../../protocol/job.js'
import { describeError, type LogFields, type Logger } from '../../service/logger.js'
import type { ChainPosition } from '../escrow/escrowLogs.js'
import type { ProcessIdentity } from '../processIdentity.js'
import type { RunRecord, RunRecords } from '../store/runRecords.js'

/** How a run ended. Only `result` says what became of the job; after any other it may be tried again. */
export type RunEnding =
  /** It left a whole, valid result. */
  | 'result'
  /** It exited and left none. */
  | 'no-result'
  /** It left something that is not a result. */
  | 'garbage'
  /** It did not end in time and was stopped. */
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
 * Writes down that a run is about to begin, so that a server that comes after a crash of this one knows of it.
 * @param process null when it is not one of this machine
 */
export type NoteRun = (process: ProcessIdentity | null) => Promise<void>

/** A run of an earlier server, as its file has it. */
export interface EarlierRun {
  readonly runId: string
  readonly process: ProcessIdentity | null
  readonly resultFile: string
  /** Unix milliseconds, where it is known. */
  readonly startedAt?: number
  /** Unix seconds. */
  readonly stopAt: number
}

/** Milliseconds until `stopAt`: never more than at the run's start, also when the clock has been set back since. */
export function timeLeft({ startedAt, stopAt }: Pick<EarlierRun, 'startedAt' | 'stopAt'>): number {
  return stopAt * 1_000 - Math.max(startedAt ?? 0, Date.now())
}

/** Outcomes of an order that the chain shows. */
export type ShownOutcome = 'settled' | 'refunded'

/**
 * Where the enclave runs: a process of this machine, or somewhere else behind HTTP. Once `over` aborts, this server follows the
 * run no longer, offers it no more, and its end may never resolve.
 */
export interface EnclaveRunner {
  /**
   * Starts a run. It does not get its job, and so does nothing, before it is noted; a program that can't be started is not.
   * @throws what `note` throws; nothing is under way then
   */
  run(job: Job, note: NoteRun, over?: AbortSignal): Promise<StartedRun>
  /** Waits for the end of a run that this server did not start. Never rejects. */
  attach(run: EarlierRun, over?: AbortSignal): Promise<RunEnd>
  /**
   * The chain shows what a run has brought about. Where the run's end can't be seen and no result arrives, that is its
   * end.
   */
  seenOnChain(runId: string, outcome: ShownOutcome): void
}

/** After `stopAt` the enclave calls neither broker nor relay; this much later it can't have a call under way either. */
export const STOPPED_AFTER_MS = 30_000

/** Milliseconds until nothing of a run can be going on any more, whatever became of it. */
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

/** Logs the end of a run at its code's level in `ALARMING`. With any other code a failed run is a warning. */
export function logRunEnd(logger: Logger, message: string, { how, result }: RunEnd, fields: LogFields): void {
  const code = result?.code
  const hasFailed = how !== 'result' || result === null || result.outcome === 'failed'
  const level = ALARMING.get(code ?? '') ?? (hasFailed ? 'warn' : 'info')
  logger[level](message, { ...fields, code })
}

/** Sees each run of the enclave. */
export interface RunObserver {
  started(job: Job['job']): void
  ended(job: Job['job'], end: RunEnd, durationMs: number): void
  /** The run goes on, and another server follows it. */
  left(job: Job['job']): void
}

/** What to run. */
export type RunRequest =
  | {
      readonly job: 'order'
      readonly orderId: Hex
      readonly account: Hex
      readonly attempt: number
      readonly envelope?: Envelope
      readonly openedAt: ChainPosition
    }
  | {
      readonly job: 'policy'
      readonly envelope: Envelope
      /** What is left of the time of its kind. */
      readonly timeoutMs: number
    }
  | { readonly job: 'reconcile' }

/** One run of the enclave under way. */
export interface Run {
  readonly file: RunRecord
  /** Never rejects. */
  readonly end: Promise<RunEnd>
  /** The chain shows what became of its order. */
  seenOnChain(outcome: ShownOutcome): void
  /** Forgets the run, once its end is recorded. Until then the next server would find it. Never rejects. */
  discard(): Promise<void>
}

/** Starts runs so that a server that comes after a crash of this one knows of them. */
export interface Runs {
  /**
   * Notes the run on disk, then has it begin.
   * @throws StorageError; nothing has begun then
   */
  start(request: RunRequest): Promise<Run>
  /** The runs that others left and that `isLeft`. */
  adopt(isLeft: (run: RunRecord) => boolean): Promise<Run[]>
  /** Whether it was started or adopted here, and is not discarded yet. */
  has(runId: string): boolean
  /** Removes the records of runs that are over, and that were neither started nor adopted here. */
  clear(): Promise<void>
}

export interface RunsOptions {
  readonly files: RunRecords
  readonly runner: EnclaveRunner
  /** Milliseconds that a run may take. */
  readonly timeouts: { readonly order: number; readonly reconcile: number }
  /** Aborts when another server may follow the runs. */
  readonly over?: AbortSignal
  readonly observer?: RunObserver | undefined
  readonly logger: Logger
}

/** The server that started a run may have a clock that is behind by as much. */
const CLOCKS_DIFFER_MS = 30_000

export function createRuns({ files, runner, timeouts, over, observer, logger }: RunsOptions): Runs {
  const own = new Set<string>()
  /** Runs that are over and whose records could not be removed: their accounts could start no further run. */
  const ended = new Set<string>()

  function toRun(file: RunRecord, end: Promise<RunEnd>): Run {
    const startedAt = Date.parse(file.startedAt)
    observer?.started(file.job)
    const onOver = () => observer?.left(file.job)
    over?.addEventListener('abort', onOver, { once: true })
    const logged = end.then((ended) => {
      over?.removeEventListener('abort', onOver)
      const durationMs = Date.now() - startedAt
      const { how: reason, exitCode } = ended
      const fields = { runId: file.runId, job: file.job, reason, exitCode, durationMs }
      if (over?.aborted !== true) observer?.ended(file.job, ended, durationMs)
      // The outcome of an order's run is logged once, with the order.
      if (file.job === 'order') logger.info('enclave run ended', fields)
      else logRunEnd(logger, 'enclave run ended', ended, { ...fields, outcome: ended.result?.outcome })
      return ended
    })
    return {
      file,
      end: logged,
      seenOnChain: (outcome) => runner.seenOnChain(file.runId, outcome),
      discard: () => discard(file.runId),
    }
  }

  /** The next start of a run tries again, or the next server, which finds that the run has ended. */
  async function discard(runId: string): Promise<void> {
    try {
      await files.remove(runId)
      ended.delete(runId)
      own.delete(runId)
    } catch (error) {
      ended.add(runId)
      logger.warn('run record not removed', { runId, ...describeError(error) })
    }
  }

  return {
    async start(request) {
      const file = newRunFile(request, request.job === 'policy' ? request.timeoutMs : timeouts[request.job])
      await Promise.all([...ended].map(discard))
      own.add(file.runId)
      const job = toJob(request, file, files.resultPath(file.runId))
      try {
        const { end } = await runner.run(job, (process) => files.create({ ...file, process }), over)
        return toRun(file, end)
      } catch (error) {
        // Its record may have been written all the same.
        ended.add(file.runId)
        throw error
      }
    },
    async adopt(isLeft) {
      const earlier = (await files.all()).filter((file) => !own.has(file.runId) && isLeft(file))
      return earlier.map((file) => {
        const { runId, process, stopAt } = file
        own.add(runId)
        const startedAt = Date.parse(file.startedAt)
        const resultFile = files.resultPath(runId)
        return toRun(file, runner.attach({ runId, process, startedAt, stopAt, resultFile }, over))
      })
    },
    has: (runId) => own.has(runId),
    async clear() {
      const all = await files.all()
      const left = all.filter((run) => !own.has(run.runId) && msUntilOver(run) + CLOCKS_DIFFER_MS < 0)
      await Promise.all(left.map(({ runId }) => discard(runId)))
    },
  }
}

function newRunFile(request: RunRequest, timeoutMs: number): RunRecord {
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
      }
    case 'policy':
      return { job: 'policy', ...common, envelope: request.envelope }
    case 'reconcile':
      return { job: 'reconcile', ...common }
  }
}
