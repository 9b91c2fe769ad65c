import type { Tagged } from './http.js'
import { sleep } from './retry.js'

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
  /** Between two questions; default 2 seconds. */
  readonly pollMs?: number | undefined
}

/** What is followed, and how long. */
export interface Followed<T> {
  /** Asks with the validator of the last answer. */
  readonly ask: (etag: string | null) => Promise<Tagged<T> | 'unchanged'>
  /** Nothing more is to come. */
  readonly isComplete: (body: T) => boolean
  /** Something small may still come: it is waited for, but not for ever. */
  readonly isFinal: (body: T) => boolean
}

const DEFAULT_POLL_MS = 2_000
/** The run that ends an order ends itself, and hands over what it has, shortly after the end shows on chain. */
const GRACE_MS = 60_000

/** Yields what is answered, and again whenever it has changed, until it is complete. */
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
      if (isFinal(answer.body)) finalSince ??= Date.now()
    }
    if (finalSince !== null && Date.now() - finalSince > GRACE_MS) return
    await sleep(pollMs, signal)
  }
}
