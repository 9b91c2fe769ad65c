import { ClientError, isRetryable, ServerError } from './errors.js'

/** The retry limits and backoff of an idempotent request. */
export interface RetryTiming {
  /** The maximum number of attempts. */
  readonly attempts: number
  /** The wait after the first failure; doubles with each further failure. */
  readonly baseMs: number
  /** The maximum wait, unless the server's `Retry-After` is longer. */
  readonly maxMs: number
}

export const DEFAULT_TIMING: RetryTiming = { attempts: 8, baseMs: 500, maxMs: 15_000 }

/** The caller handles longer waits, such as until a daily quota resets. */
const MAX_ASKED_S = 300

const TOO_MANY_REQUESTS = 429
const UNAVAILABLE = 503

/**
 * Runs an idempotent request. Retries after 429, 503, a timeout or a lost connection, or what `isWorthIt` says, with exponential backoff that
 * is never shorter than `Retry-After`. Throws any other failure immediately, and any whose `Retry-After` exceeds MAX_ASKED_S.
 */
export async function withRetries<T>(
  send: () => Promise<T>,
  timing: RetryTiming,
  signal?: AbortSignal,
  isWorthIt: (error: unknown) => boolean = isTransient,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      if (attempt >= timing.attempts || !isWorthIt(error)) throw error
      const asked = error instanceof ServerError ? (error.retryAfter ?? 0) * 1_000 : 0
      await sleep(Math.max(asked, waitAfter(attempt, timing)), signal)
    }
  }
}

/** The wait after the `attempt`-th failure: doubles up to `maxMs`; half of it is random jitter. */
export function waitAfter(attempt: number, { baseMs, maxMs }: Omit<RetryTiming, 'attempts'>): number {
  const full = Math.min(maxMs, baseMs * 2 ** (attempt - 1))
  return full / 2 + (Math.random() * full) / 2
}

/** The answer, or a rejection with the signal's reason as soon as it aborts. */
export function abortable<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The time limit of one request to a node. A wallet's provider has none of its own. */
const NODE_TIMEOUT_MS = 30_000

/**
 * A node's answer, or a rejection with the signal's reason as soon as it aborts.
 * @throws ClientError `node-timeout` after half a minute without an answer, or after `timeoutMs`
 */
export async function nodeAnswer<T>(
  answer: Promise<T>,
  signal: AbortSignal | undefined,
  timeoutMs = NODE_TIMEOUT_MS,
): Promise<T> {
  const late = new AbortController()
  const giveUp = () => late.abort(new ClientError('node-timeout', 'The node did not answer in time.'))
  const timer = setTimeout(giveUp, timeoutMs)
  try {
    return await abortable(
      answer,
      signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    )
  } finally {
    clearTimeout(timer)
  }
}

/** What a look finds; null also where it fails as the next one may not, unless that is too late. @param giveUpAt as `Date.now()` */
export async function lookUntil<T>(giveUpAt: number, look: () => Promise<T | null>): Promise<T | null> {
  try {
    return await look()
  } catch (error) {
    if (!isRetryable(error) || Date.now() >= giveUpAt) throw error
    return null
  }
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

function isTransient(error: unknown): boolean {
  if (error instanceof ServerError) {
    const isLater = error.status === TOO_MANY_REQUESTS || error.status === UNAVAILABLE
    return isLater && (error.retryAfter ?? 0) <= MAX_ASKED_S
  }
  return (
    error instanceof ClientError && (error.code === 'server-timeout' || error.code === 'server-unreachable')
  )
}
