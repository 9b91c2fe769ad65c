import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, RunResult } from '../../../protocol/job.js'
import { createKeyedLock } from '../../../service/keyedLock.js'
import type { Logger } from '../../../service/logger.js'
import { within } from '../../async/waiting.js'
import { createRecentMap } from '../../recentMap.js'
import type { RunFiles } from '../../store/runFiles.js'
import type { Pace } from '../pace.js'
import { attachToProcess } from './processRunner.js'
import type { RemoteEnclave } from './remoteEnclave.js'
import { readResultFile } from './resultFile.js'
import { type EarlierRun, type EnclaveRunner, type RunEnd, STOPPED_AFTER_MS, timeLeft } from './runner.js'

/** What comes of a result that was posted: nobody waits for one of a run that is unknown, or has been given up. */
export type Reception = 'received' | 'not-awaited'

/** Takes results that were signed. */
export interface PostedResults {
  /** Durable when it resolves. The first one counts; posting it again changes nothing. @throws StorageError */
  receive(runId: string, result: RunResult): Promise<Reception>
}

interface HttpRunnerOptions {
  readonly remote: RemoteEnclave
  readonly files: Pick<RunFiles, 'get' | 'putResult' | 'resultPath'>
  readonly pace: Pace
  /** Aborts when the server begins to stop: nothing is offered from then on. */
  readonly stopping: AbortSignal
  readonly times?: HttpRunnerTimes
  readonly logger: Logger
}

/** Milliseconds. */
export interface HttpRunnerTimes {
  /** Before a job whose answer was lost is offered again; doubled each time, up to the longest. */
  readonly againMs: number
  readonly againMaxMs: number
  /** How long a result may still come after its effect was seen on the chain: it may bring a notice. */
  readonly effectMs: number
}

const TIMES: HttpRunnerTimes = { againMs: 2_000, againMaxMs: 30_000, effectMs: 30_000 }
const TIMEOUT: RunEnd = { how: 'timeout', exitCode: null, result: null }
const NOT_STARTED: RunEnd = { how: 'not-started', exitCode: null, result: null }
/** Runs whose end is remembered for a result that is posted again. */
const REMEMBERED = 10_000

/**
 * Runs the enclave by posting jobs to its host, which posts results back. Whatever is not certain counts as running,
 * until nothing of the run can be going on any more: 30 s after `stopAt`.
 */
export function createHttpRunner(options: HttpRunnerOptions): EnclaveRunner & PostedResults {
  const { remote, files, pace, stopping, times = TIMES, logger } = options
  const waiting = new Map<string, (end: RunEnd) => void>()
  const ended = createRecentMap<string, Reception>(REMEMBERED)
  // A run ends, and its result comes, one after the other: what comes later leaves no file behind.
  const lock = createKeyedLock()

  async function follow({ runId, resultFile, ...run }: EarlierRun): Promise<RunEnd> {
    const told = new Promise<RunEnd>((resolve) => waiting.set(runId, resolve))
    const left = await readResultFile(resultFile)
    const end = left.kind === 'result' ? undefined : await within(told, timeLeft(run) + STOPPED_AFTER_MS)
    return lock.run(runId, async () => {
      waiting.delete(runId)
      const posted = await readResultFile(resultFile)
      ended.set(runId, posted.kind === 'result' ? 'received' : 'not-awaited')
      if (posted.kind === 'result') return { how: 'result', exitCode: null, result: posted.result }
      return end ?? TIMEOUT
    })
  }

  /** Offers a job until the host says something definite. Once it may have been taken, a refusal is none any more. */
  async function offer(job: Job): Promise<void> {
    let isUncertain = false
    for (let wait = times.againMs; ; wait = Math.min(wait * 2, times.againMaxMs)) {
      const answer = await remote.offer(job)
      if (answer.kind === 'accepted') return
      const { runId } = job
      logger.warn('job not taken', { runId, reason: answer.kind, status: answer.status })
      if (answer.kind === 'refused' && answer.retryAfterMs !== undefined) pace.hold(answer.retryAfterMs)
      if (answer.kind === 'refused' && !isUncertain) return waiting.get(runId)?.(NOT_STARTED)
      isUncertain = true
      await sleep(wait, undefined, { ref: false })
      if (!mayOffer(job) || !(await pace.take(job.stopAt * 1_000 - Date.now())) || !mayOffer(job)) return
    }
  }

  function mayOffer({ runId, stopAt }: Job): boolean {
    return waiting.has(runId) && !stopping.aborted && Date.now() < stopAt * 1_000
  }

  return {
    async run(job, note) {
      await note(null)
      const end = follow({ ...job, startedAt: Date.now(), process: null })
      void offer(job)
      return { end }
    },
    // It began before the configuration changed from processes to HTTP.
    attach: (run) => (run.process === null ? follow(run) : attachToProcess(run)),
    seenOnChain(runId, outcome) {
      const end: RunEnd = { how: 'result', exitCode: null, result: { outcome } }
      setTimeout(() => waiting.get(runId)?.(end), times.effectMs).unref()
    },
    receive: (runId, result) =>
      lock.run(runId, async () => {
        const before = ended.get(runId)
        if (before !== undefined) return before
        if ((await files.get(runId)) === undefined) return 'not-awaited'
        if ((await readResultFile(files.resultPath(runId))).kind !== 'result') {
          await files.putResult(runId, result)
        }
        waiting.get(runId)?.({ how: 'result', exitCode: null, result })
        return 'received'
      }),
  }
}
