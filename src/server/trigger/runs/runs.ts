import { randomUUID } from 'node:crypto'
import type { Envelope } from '../../../protocol/envelope.js'
import type { Hex } from '../../../protocol/hex.js'
import type { Job } from '../../../protocol/job.js'
import { describeError, type Logger } from '../../../service/logger.js'
import type { RunObserver } from '../../metrics/runMetrics.js'
import type { RunRecord, RunRecords } from '../../store/runRecords.js'
import type { ChainPosition } from '../queue/trackedOrder.js'
import { logRunEnd } from './runLog.js'
import type { EnclaveRunner, RunEnd, ShownOutcome } from './runner.js'

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
  /** The runs that an earlier server left. Called once; what this one has started meanwhile is not among them. */
  adopt(): Promise<Run[]>
}

export interface RunsOptions {
  readonly files: RunRecords
  readonly runner: EnclaveRunner
  /** Milliseconds that a run may take. */
  readonly timeouts: { readonly order: number; readonly reconcile: number }
  readonly observer?: RunObserver | undefined
  readonly logger: Logger
}

export function createRuns({ files, runner, timeouts, observer, logger }: RunsOptions): Runs {
  /** Runs of this server, until the earlier ones are known: a rulebook may be posted before. */
  let own: Set<string> | undefined = new Set()
  /** Runs that are over and whose records could not be removed: their accounts could start no further run. */
  const ended = new Set<string>()

  function toRun(file: RunRecord, end: Promise<RunEnd>): Run {
    const startedAt = Date.parse(file.startedAt)
    observer?.started(file.job)
    const logged = end.then((ended) => {
      const durationMs = Date.now() - startedAt
      const { how: reason, exitCode } = ended
      const fields = { runId: file.runId, job: file.job, reason, exitCode, durationMs }
      observer?.ended(file.job, ended, durationMs)
      // What an order's run came to is told with the order, once.
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
    } catch (error) {
      ended.add(runId)
      logger.warn('run record not removed', { runId, ...describeError(error) })
    }
  }

  return {
    async start(request) {
      const file = newRunFile(request, request.job === 'policy' ? request.timeoutMs : timeouts[request.job])
      own?.add(file.runId)
      await Promise.all([...ended].map(discard))
      const job = toJob(request, file, files.resultPath(file.runId))
      const { end } = await runner.run(job, (process) => files.put({ ...file, process }))
      return toRun(file, end)
    },
    async adopt() {
      const all = await files.all()
      const earlier = all.filter(({ runId }) => own?.has(runId) !== true)
      own = undefined
      return earlier.map((file) => {
        const { runId, process, stopAt } = file
        const startedAt = Date.parse(file.startedAt)
        const resultFile = files.resultPath(runId)
        return toRun(file, runner.attach({ runId, process, startedAt, stopAt, resultFile }))
      })
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
