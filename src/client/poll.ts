import type { OrderStatus } from '../protocol/api.js'
import type { TradingError } from './errors.js'
import { toTradingError } from './foreignErrors.js'
import type { CallOptions, Tagged } from './http.js'
import { sleep } from './retry.js'

export interface FollowOptions extends CallOptions {
  /** Interval between polls; default 2 seconds. */
  readonly pollMs?: number | undefined
}

export interface WatchOptions extends FollowOptions {
  /** Called with the order's status, and again whenever it changes; for the last time with its end and what may follow that. */
  readonly onStatus: (status: OrderStatus) => void
  /** Called with each failure. The watch goes on after a `retryable` one, and is over after any other. What this throws is lost. */
  readonly onError: (error: TradingError) => void
}

/** A resource to poll, and the conditions that end polling. */
export interface Followed<T> {
  /** Requests the resource with the validator of the last answer. */
  readonly ask: (etag: string | null) => Promise<Tagged<T> | 'unchanged'>
  /** The body cannot change any more. */
  readonly isComplete: (body: T) => boolean
  /** The body may still gain a late part; polling continues for a grace period. */
  readonly isFinal: (body: T) => boolean
}

const DEFAULT_POLL_MS = 2_000
/** The run that ends an order reports its result after the end shows on chain: mostly at once, at its time limit at the latest. */
const GRACE_MS = 180_000

/**
 * Calls back with what `list` yields, until it has ended or the watch is over.
 * @returns a function that ends the watch: nothing is called after it
 */
export function watch(
  list: (options: FollowOptions) => AsyncIterable<OrderStatus>,
  { onStatus, onError, signal, pollMs = DEFAULT_POLL_MS }: WatchOptions,
): () => void {
  const unsubscribed = new AbortController()
  const over = signal ? AbortSignal.any([signal, unsubscribed.signal]) : unsubscribed.signal
  let last = ''
  function tell(status: OrderStatus): void {
    const text = JSON.stringify(status, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
    if (over.aborted || text === last) return
    last = text
    onStatus(status)
  }
  /** Whether to list again. */
  async function listOnce(): Promise<boolean> {
    try {
      for await (const status of list({ signal: over, pollMs })) tell(status)
      return false
    } catch (error) {
      if (over.aborted) return false
      const failure = toTradingError(error)
      try {
        onError(failure)
      } catch {
        // An unhandled rejection would end a program of Node.
      }
      return failure.retryable
    }
  }
  async function listUntilOver(): Promise<void> {
    while ((await listOnce()) && !over.aborted) await sleep(pollMs, over).catch(() => undefined)
  }
  void listUntilOver()
  return () => unsubscribed.abort()
}

/** Yields the resource, and again whenever it changes, until it is complete. */
export async function* follow<T>(
  { ask, isComplete, isFinal }: Followed<T>,
  { signal, pollMs = DEFAULT_POLL_MS }: FollowOptions = {},
): AsyncGenerator<T, void, undefined> {
  let etag: string | null = null
  let finalSince: number | null = null
  for (;;) {
    const answer = await ask(etag)
    if (answer !== 'unchanged') {
      etag = answer.etag
      yield answer.body
      if (isComplete(answer.body)) return
      // A reorganization may take an end back.
      finalSince = isFinal(answer.body) ? (finalSince ?? Date.now()) : null
    }
    if (finalSince !== null && Date.now() - finalSince > GRACE_MS) return
    await sleep(pollMs, signal)
  }
}
