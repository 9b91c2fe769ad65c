import { ClientError, ServerError } from './errors.js'

/** How often, and after how long, a request that may be repeated is repeated. */
export interface RetryTiming {
  /** The most times that it is sent. */
  readonly attempts: number
  /** Wait after the first failure; doubles with each further one. */
  readonly baseMs: number
  /** A wait is not longer than this, unless the server's `Retry-After` is. */
  readonly maxMs: number
}

export const DEFAULT_TIMING: RetryTiming = { attempts: 8, baseMs: 500, maxMs: 15_000 }

/** Longer waits, such as until a daily quota resets, are left to the caller. */
const MAX_ASKED_S = 300

const TOO_MANY_REQUESTS = 429
const UNAVAILABLE = 503

/**
 * Runs an idempotent request, again after 429, 503, a time-out or a lost connection, with growing waits that
 * are never shorter than `Retry-After`. Any other failure is thrown at once, and one whose `Retry-After` is minutes.
 */
export async function withRetries<T>(
  send: () => Promise<T>,
  timing: RetryTiming,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      if (attempt >= timing.attempts || !isTransient(error)) throw error
      const asked = error instanceof ServerError ? (error.retryAfter ?? 0) * 1_000 : 0
      await sleep(Math.max(asked, waitAfter(attempt, timing)), signal)
    }
  }
}

/** The wait after the `attempt`-th failure: doubling, at most `maxMs`, with half of it random so that clients spread. */
export function waitAfter(attempt: number, { baseMs, maxMs }: Omit<RetryTiming, 'attempts'>): number {
  const full = Math.min(maxMs, baseMs * 2 ** (attempt - 1))
  return full / 2 + (Math.random() * full) / 2
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
