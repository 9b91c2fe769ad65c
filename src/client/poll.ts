import type { CallOptions, Tagged } from './http.js'
import { sleep } from './retry.js'

export interface FollowOptions extends CallOptions {
  /** Interval between polls; default 2 seconds. */
  readonly pollMs?: number | undefined
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
