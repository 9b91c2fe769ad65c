import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import {
  type EnclaveBoot,
  enclaveBootSchema,
  type Job,
  jobAcceptedSchema,
  type PostedResult,
  type ProvisionalResult,
  postedResultSchema,
  provisionalResultSchema,
  RESTARTED,
  type RunResult,
  runIdSchema,
  runResultReceivedSchema,
} from '../../protocol/job.js'
import { signRunMessage } from '../../protocol/runMessage.js'
import { describeError, type Logger } from '../../service/logger.js'
import { createPost, hasNotConnected, type PostAnswer } from '../../service/post.js'
import type { Secret } from '../../service/secret.js'
import { withTimeout } from '../../service/waiting.js'
import { signedRun } from '../http/auth.js'
import { parseBody, parseParam } from '../http/body.js'
import type { Route } from '../http/routes.js'
import type { RunRecord, RunRecords } from '../store/runRecords.js'
import type { DoorUrl } from './door.js'
import type { TriggerRateLimit } from './rateLimit.js'
import { type EnclaveRunner, msUntilOver, type RunEnd } from './runner.js'

/** Whether the server waits for a posted message: not if its run is unknown, given up or has ended. */
type Acknowledgement = 'received' | 'not-awaited'

interface HttpRunnerOptions {
  readonly url: DoorUrl
  readonly secret: Secret
  readonly runRecords: Pick<RunRecords, 'get' | 'getMany' | 'change'>
  readonly rateLimit: TriggerRateLimit
  /** Aborts when the server begins to stop: it offers no job from then on. */
  readonly stopping: AbortSignal
  /** Milliseconds between two polls for results that other servers have received; undefined where there is no other server. */
  readonly pollEveryMs?: number | undefined
  readonly times?: typeof TIMES
  readonly logger: Logger
}

/** Milliseconds. */
const TIMES = {
  /** Pause before a job whose answer was lost is offered again; doubled each time, up to `againMaxMs`. */
  againMs: 2_000,
  againMaxMs: 30_000,
  /** Pause before a job that found no enclave is offered again, and for how long: a dead enclave is started anew. */
  absentAgainMs: 250,
  absentMs: 10_000,
}
const NOT_STARTED: RunEnd = { how: 'not-started', result: null }

/**
 * Posts jobs to the enclave, which posts results back to this server or to any other. A run with an uncertain state counts as
 * running until 30 s after `stopAt`, when it is certainly over.
 */
export function createHttpRunner(options: HttpRunnerOptions) {
  const { runRecords, stopping, pollEveryMs, times = TIMES, logger } = options
  const waiting = new Map<string, (end: RunEnd) => void>()
  let isPolling = false

  const follow: EnclaveRunner['attach'] = async ({ runId, ...time }, over) => {
    const { promise, resolve } = Promise.withResolvers<RunEnd>()
    const unfollow = () => {
      if (waiting.get(runId) === resolve) waiting.delete(runId)
    }
    waiting.set(runId, resolve)
    over?.addEventListener('abort', unfollow, { once: true })
    if (over?.aborted) unfollow()
    void pollResults()
    const known = (await recordOf(runId))?.result
    const end = known !== undefined ? undefined : await withTimeout(promise, msUntilOver(time))
    over?.removeEventListener('abort', unfollow)
    unfollow()
    // Another server follows the run now and reports its end.
    if (over?.aborted) return new Promise(() => undefined)
    const record = await recordOf(runId)
    const posted = record?.result
    const provisional = record?.provisional
    if (posted !== undefined) return { how: 'result', result: withProvisional(posted, provisional) }
    return end ?? { how: 'timeout', result: provisional ? { ...provisional, outcome: 'failed' } : null }
  }

  async function pollResults(): Promise<void> {
    if (pollEveryMs === undefined || isPolling) return
    isPolling = true
    while (waiting.size > 0) {
      await sleep(pollEveryMs, undefined, { ref: false })
      try {
        for (const { runId, result } of await runRecords.getMany([...waiting.keys()])) {
          if (result !== undefined) waiting.get(runId)?.({ how: 'result', result })
        }
      } catch {
        // The next poll retries; each run ends by its time at the latest.
        if (stopping.aborted) break
      }
    }
    isPolling = false
  }

  /** Undefined where the store fails: the run ends without its record. */
  async function recordOf(runId: string): Promise<RunRecord | undefined> {
    try {
      return await runRecords.get(runId)
    } catch (error) {
      logger.error('run record not read', { runId, ...describeError(error) })
      return undefined
    }
  }

  const offers = createOffers({
    ...options,
    times,
    mayOffer: ({ runId, stopAt }) => waiting.has(runId) && !stopping.aborted && Date.now() < stopAt * 1_000,
    onRefused: (runId) => waiting.get(runId)?.(NOT_STARTED),
  })

  const runner: EnclaveRunner = {
    run(job, { startedAt, stopAt }, over) {
      const end = follow({ runId: job.runId, startedAt, stopAt }, over)
      void offers.start(job, false)
      return end
    },
    attach: follow,
    offerAgain: (job) => void offers.start(job, true),
  }
  return {
    ...runner,
    /** Durable when it resolves. The first one counts, whichever server receives it. @throws StorageError */
    async receiveResult(runId: string, { enclave, ...result }: PostedResult): Promise<Acknowledgement> {
      let isAwaited = false
      await runRecords.change(runId, (run) => {
        isAwaited = msUntilOver(run) > 0 && isItsEnd(run, enclave, result)
        return isAwaited && run.result === undefined ? { ...run, result } : undefined
      })
      if (isAwaited) waiting.get(runId)?.({ how: 'result', result })
      return isAwaited ? 'received' : 'not-awaited'
    },
    /** Durable when it resolves. It ends no run. @throws StorageError */
    async receiveNotice(runId: string, provisional: ProvisionalResult): Promise<Acknowledgement> {
      let isAwaited = false
      await runRecords.change(runId, (run) => {
        isAwaited = msUntilOver(run) > 0 && run.result === undefined
        return isAwaited ? { ...run, provisional: { ...run.provisional, ...provisional } } : undefined
      })
      return isAwaited ? 'received' : 'not-awaited'
    },
  }
}

function createOffers(
  options: HttpRunnerOptions & {
    readonly times: typeof TIMES
    /** Whether this server still follows the run, whose time is not over. */
    readonly mayOffer: (job: Job) => boolean
    /** No enclave runs the job, and none will because of these offers. */
    readonly onRefused: (runId: string) => void
  },
) {
  const { runRecords, rateLimit, times, mayOffer, onRefused, logger } = options
  const ask = createJobPost(options)
  /** Jobs that are being offered, and whether an enclave may have accepted each by an offer without an answer, or by another server's. */
  const underWay = new Map<string, { mayBeAccepted: boolean }>()

  /** Records which enclave has accepted the run, unless its row is gone. */
  async function keepEnclave(runId: string, enclave: EnclaveBoot): Promise<void> {
    try {
      await runRecords.change(runId, (run) => ({ ...run, enclave }))
    } catch (error) {
      logger.warn('enclave of a run not recorded', { runId, ...describeError(error) })
    }
  }

  /** Offers a job until the answer is definite. Once an enclave may have accepted it, a refusal is no longer definite. */
  async function offer(job: Job, offered: { mayBeAccepted: boolean }): Promise<void> {
    const { runId } = job
    const absentUntil = performance.now() + times.absentMs
    for (let tries = 0; ; tries++) {
      const answer = await ask(job)
      if (answer.kind === 'accepted') {
        if (answer.enclave !== undefined) await keepEnclave(runId, answer.enclave)
        return
      }
      // While the enclave is away, one line per run is enough.
      if (tries === 0) logger.warn('job not accepted', { runId, reason: answer.kind, status: answer.status })
      if (answer.retryAfterMs !== undefined) rateLimit.pauseFor(answer.retryAfterMs)
      offered.mayBeAccepted ||= answer.kind === 'unknown'
      const isGivenUp = answer.kind === 'refused' || performance.now() >= absentUntil
      if (isGivenUp && !offered.mayBeAccepted) return onRefused(runId)
      const least = answer.kind === 'absent' ? times.absentAgainMs : times.againMs
      await sleep(Math.min(least * 2 ** tries, times.againMaxMs), undefined, { ref: false })
      if (!(await awaitTurn(job))) return
    }
  }

  /** A missing row belongs to a run that is over. Where the store fails the job is offered: an enclave runs it once. */
  async function isAccepted(runId: string): Promise<boolean> {
    const record = await runRecords.get(runId).catch(() => 'unknown' as const)
    if (record === 'unknown') return false
    return record === undefined || record.enclave !== undefined || record.result !== undefined
  }

  /** Waits for the turn of one more offer; false when the job may no longer be offered. */
  async function awaitTurn(job: Job): Promise<boolean> {
    return mayOffer(job) && (await rateLimit.acquire(job.stopAt * 1_000 - Date.now())) && mayOffer(job)
  }

  return {
    /**
     * Offers a job until the answer is definite. Never rejects.
     * @param isAgain of an earlier server's run: unless an enclave is known to have accepted it
     */
    async start(job: Job, isAgain: boolean) {
      const { runId } = job
      const known = underWay.get(runId)
      // Offered since an earlier term, and perhaps by the servers between the two terms.
      if (known !== undefined) known.mayBeAccepted = true
      if (known !== undefined) return
      const offered = { mayBeAccepted: isAgain }
      underWay.set(runId, offered)
      if (!isAgain || (!(await isAccepted(runId)) && (await awaitTurn(job)))) await offer(job, offered)
      underWay.delete(runId)
    },
  }
}

/**
 * Two enclaves behind one URL may both have accepted a job whose first answer was lost. The run then belongs to the enclave whose
 * answer arrived. A restart ends only runs of earlier boots.
 */
function isItsEnd(
  { enclave: acceptedBy }: RunRecord,
  poster: EnclaveBoot | undefined,
  { code }: RunResult,
): boolean {
  if (acceptedBy === undefined || poster === undefined) return true
  if (poster.instance !== acceptedBy.instance) return false
  return code !== RESTARTED || poster.boot > acceptedBy.boot
}

/** A failure keeps the notice that its run posted before: the refund that it explains may still happen. */
function withProvisional(result: RunResult, provisional: ProvisionalResult | undefined): RunResult {
  return result.outcome === 'failed' ? { ...result, ...provisional } : result
}

interface OfferAnswer {
  /**
   * - `accepted`: the enclave runs it, or has run it
   * - `refused`: the enclave does not run it, and this offer never makes it run
   * - `absent`: no enclave listens there, or none of several is in force, so none has the job
   * - `unknown`: no definite answer; the job may run
   */
  readonly kind: 'accepted' | 'refused' | 'absent' | 'unknown'
  /** Null where nothing answered. */
  readonly status: number | null
  /** Absent where the program in front of the enclave does not say. */
  readonly enclave?: EnclaveBoot | undefined
  /** How long the enclave asks for no further job, in milliseconds. */
  readonly retryAfterMs?: number
}

/** An enclave only stores the job before it answers. */
const TIMEOUT_MS = 10_000
/** Storing a job is quick: more offers at once would only wait there. */
const MAX_CONNECTIONS = 32
/** The longest pause that an enclave can ask for. */
const MAX_RETRY_AFTER_MS = 15 * 60_000

/** Offers a job to the enclave, which runs it once, by its `runId`, however often it is offered. Never rejects. */
function createJobPost({ url, secret }: Pick<HttpRunnerOptions, 'url' | 'secret'>) {
  const post = createPost({ timeoutMs: TIMEOUT_MS, maxConnections: MAX_CONNECTIONS })
  return async (job: Job): Promise<OfferAnswer> => {
    const body = JSON.stringify(job)
    const headers = signRunMessage(secret.reveal(), { kind: 'job', runId: job.runId, body })
    const target = await url().catch(() => undefined)
    if (target === undefined) return { kind: 'absent', status: null }
    try {
      return answerOf(await post(target, { ...headers }, body))
    } catch (error) {
      return { kind: hasNotConnected(error) ? 'absent' : 'unknown', status: null }
    }
  }
}

/** A gateway may answer 5xx, and 408, for an enclave that has got the request all the same. */
function answerOf({ status, headers, text }: PostAnswer): OfferAnswer {
  if (status >= 200 && status < 300) return { kind: 'accepted', status, enclave: bootIn(text) }
  if (status >= 500 || status === 408) return { kind: 'unknown', status }
  const seconds = Number(headers['retry-after'] ?? Number.NaN)
  if (status !== 429 || !(seconds >= 0)) return { kind: 'refused', status }
  return { kind: 'refused', status, retryAfterMs: Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) }
}

/** The boot that accepted the job. A job that was accepted before may belong to the boot before the one that answers. */
function bootIn(text: string): EnclaveBoot | undefined {
  try {
    const { instance, boot = 0, result } = jobAcceptedSchema.parse(JSON.parse(text))
    const acceptedBy = result === 'accepted' ? boot : Math.max(1, boot - 1)
    return enclaveBootSchema.safeParse({ instance, boot: acceptedBy }).data
  } catch {
    return undefined
  }
}

/** The routes at which an enclave that stays up posts the notices and results of its runs. */
export function runRoutes(deps: {
  readonly secret: Secret
  readonly results: Pick<ReturnType<typeof createHttpRunner>, 'receiveResult' | 'receiveNotice'>
}): Route[] {
  const { secret, results } = deps
  const route = <Posted>(
    kind: 'notice' | 'result',
    schema: z.core.$ZodType<Posted>,
    receive: (runId: string, posted: Posted) => Promise<Acknowledgement>,
  ): Route => ({
    method: 'POST',
    path: `/runs/:runId/${kind}`,
    admit: signedRun(kind, secret),
    async answer(posted, _client, _headers, param) {
      const runId = parseParam(runIdSchema, 'runId', param)
      const result = await receive(runId, parseBody(schema, posted))
      return { status: 200, body: z.encode(runResultReceivedSchema, { runId, result }) }
    },
  })
  return [
    route('notice', provisionalResultSchema, results.receiveNotice),
    route('result', postedResultSchema, results.receiveResult),
  ]
}
