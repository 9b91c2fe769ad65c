import { setTimeout as sleep } from 'node:timers/promises'
import {
  type EnclaveBoot,
  type Job,
  type PostedResult,
  type ProvisionalResult,
  RESTARTED,
  type RunResult,
} from '../../../protocol/job.js'
import { createKeyedLock } from '../../../service/keyedLock.js'
import { describeError, type Logger } from '../../../service/logger.js'
import { createRecentMap } from '../../../service/recentMap.js'
import { within } from '../../async/waiting.js'
import type { RunRecord, RunRecords } from '../../store/runRecords.js'
import type { Pace } from '../pace.js'
import { attachToProcess } from './processRunner.js'
import type { RemoteEnclave } from './remoteEnclave.js'
import { type EarlierRun, type EnclaveRunner, type RunEnd, STOPPED_AFTER_MS, timeLeft } from './runner.js'

/** What comes of a result that was posted: nobody waits for one of a run that is unknown, or has been given up. */
export type Reception = 'received' | 'not-awaited'

/** Takes notices and results that were signed. */
export interface PostedResults {
  /** Durable when it resolves. The first one counts; posting it again changes nothing. @throws StorageError */
  receive(runId: string, result: PostedResult): Promise<Reception>
  /** Durable when it resolves. It ends nothing. @throws StorageError */
  hear(runId: string, told: ProvisionalResult): Promise<Reception>
}

interface HttpRunnerOptions {
  readonly remote: RemoteEnclave
  readonly files: Pick<RunRecords, 'get' | 'put'>
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
  /** Before a job that found no enclave is offered again: one that has died starts anew. And for how long. */
  readonly absentAgainMs: number
  readonly absentMs: number
  /** How long a result may still come after its effect was seen on the chain: it may bring a notice. */
  readonly effectMs: number
}

const TIMES: HttpRunnerTimes = {
  againMs: 2_000,
  againMaxMs: 30_000,
  absentAgainMs: 250,
  absentMs: 10_000,
  effectMs: 30_000,
}
const TIMEOUT: RunEnd = { how: 'timeout', exitCode: null, result: null }
const NOT_STARTED: RunEnd = { how: 'not-started', exitCode: null, result: null }
/** Runs whose end is remembered for a result that is posted again. */
const REMEMBERED = 10_000

/**
 * Runs the enclave by posting jobs to it, which posts results back. Whatever is not certain counts as running, until
 * nothing of the run can be going on any more: 30 s after `stopAt`.
 */
export function createHttpRunner(options: HttpRunnerOptions): EnclaveRunner & PostedResults {
  const { remote, files, pace, stopping, times = TIMES, logger } = options
  const waiting = new Map<string, (end: RunEnd) => void>()
  const ended = createRecentMap<string, Reception>(REMEMBERED)
  // A run ends, and its result comes, one after the other: what comes later leaves no record behind.
  const lock = createKeyedLock()

  async function follow({ runId, ...run }: Omit<EarlierRun, 'resultFile'>): Promise<RunEnd> {
    const told = new Promise<RunEnd>((resolve) => waiting.set(runId, resolve))
    const left = (await recordOf(runId))?.result
    const end = left !== undefined ? undefined : await within(told, timeLeft(run) + STOPPED_AFTER_MS)
    return lock.run(runId, async () => {
      waiting.delete(runId)
      const record = await recordOf(runId)
      const posted = record?.result
      const heard = record?.told
      ended.set(runId, posted === undefined ? 'not-awaited' : 'received')
      if (posted !== undefined) return { how: 'result', exitCode: null, result: withTold(posted, heard) }
      return end ?? { ...TIMEOUT, result: heard ? { ...heard, outcome: 'failed' } : null }
    })
  }

  /** Undefined where the store fails: an end counts all the same. */
  async function recordOf(runId: string): Promise<RunRecord | undefined> {
    try {
      return await files.get(runId)
    } catch (error) {
      logger.error('run record not read', { runId, ...describeError(error) })
      return undefined
    }
  }

  /** Keeps which enclave has taken the run, unless it has ended by now. */
  async function keepEnclave(runId: string, enclave: EnclaveBoot): Promise<void> {
    try {
      await lock.run(runId, async () => {
        const file = waiting.has(runId) ? await files.get(runId) : undefined
        if (file !== undefined) await files.put({ ...file, enclave })
      })
    } catch (error) {
      logger.warn('enclave of a run not noted', { runId, ...describeError(error) })
    }
  }

  /** Offers a job until the enclave says something definite. Once it may have been taken, a refusal is none any more. */
  async function offer(job: Job): Promise<void> {
    const { runId } = job
    const absentUntil = performance.now() + times.absentMs
    let isUncertain = false
    for (let tries = 0; ; tries++) {
      const answer = await remote.offer(job)
      if (answer.kind === 'accepted') {
        if (answer.enclave !== undefined) await keepEnclave(runId, answer.enclave)
        return
      }
      // An enclave that is away is away for every run: one line of each is enough.
      if (tries === 0) logger.warn('job not taken', { runId, reason: answer.kind, status: answer.status })
      if (answer.kind === 'refused' && answer.retryAfterMs !== undefined) pace.hold(answer.retryAfterMs)
      isUncertain ||= answer.kind === 'unknown'
      const isGivenUp = answer.kind === 'refused' || performance.now() >= absentUntil
      if (isGivenUp && !isUncertain) return waiting.get(runId)?.(NOT_STARTED)
      const least = answer.kind === 'absent' ? times.absentAgainMs : times.againMs
      await sleep(Math.min(least * 2 ** tries, times.againMaxMs), undefined, { ref: false })
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
    receive: (runId, { enclave, ...result }) =>
      lock.run(runId, async () => {
        const before = ended.get(runId)
        if (before !== undefined) return before
        const file = await files.get(runId)
        if (file === undefined || !isItsEnd(file, enclave, result)) return 'not-awaited'
        if (file.result === undefined) await files.put({ ...file, result })
        waiting.get(runId)?.({ how: 'result', exitCode: null, result })
        return 'received'
      }),
    hear: (runId, told) =>
      lock.run(runId, async () => {
        const file = ended.get(runId) === undefined ? await files.get(runId) : undefined
        if (file === undefined) return 'not-awaited'
        await files.put({ ...file, told: { ...file.told, ...told } })
        return 'received'
      }),
  }
}

/**
 * Two enclaves behind one URL may both have taken a job whose first answer was lost: then the run is that of the one whose
 * answer came. A restart proves something of the boots before it alone.
 */
function isItsEnd(
  { enclave: taker }: RunRecord,
  poster: EnclaveBoot | undefined,
  { code }: RunResult,
): boolean {
  if (taker === undefined || poster === undefined) return true
  if (poster.instance !== taker.instance) return false
  return code !== RESTARTED || poster.boot > taker.boot
}

/** What a run told before its end belongs to its failure: a refund that a notice explains may yet take effect. */
function withTold(result: RunResult, told: ProvisionalResult | undefined): RunResult {
  return result.outcome === 'failed' ? { ...result, ...told } : result
}
