import { createRecentMap } from '../../service/recentMap.js'

const WINDOW_SECONDS = 60
/** Clients that are counted at the same time; beyond that, the oldest window is forgotten first. */
const MAX_CLIENTS = 50_000
/** Requests over its rate after which a client is barred until its window ends: one that waits as it is asked sends few. */
const MAX_REFUSALS = 100

interface Window {
  used: number
  /** By the same clock as `now`. */
  readonly endsAt: number
}

/** What is left to a client. */
export interface Allowance {
  /** The client has asked for more than it may. */
  readonly isExceeded: boolean
  /** Until its next window begins. */
  readonly secondsLeft: number
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
  readonly headers: Readonly<Record<string, string>>
}

export interface RateLimit {
  /** Counts a request of the client. */
  count(client: string): Allowance
  /** Takes back a request that was counted. */
  giveBack(client: string): void
  /** Whether the client has gone on asking over its rate for so long that it should not even connect until its window ends. */
  isBarred(client: string): boolean
}

/**
 * Counts what each client (`clientOf`) asks for, in a minute that begins with its first request.
 *
 * @param now milliseconds of the monotonic clock
 */
export function createRateLimit(
  requestsPerMinute: number,
  now: () => number = () => performance.now(),
): RateLimit {
  const windows = createRecentMap<string, Window>(MAX_CLIENTS)
  const policy = `"default";q=${requestsPerMinute};w=${WINDOW_SECONDS}`

  function windowOf(client: string, at: number): Window {
    const current = windows.get(client)
    if (current !== undefined && at < current.endsAt) return current
    const fresh = { used: 0, endsAt: at + WINDOW_SECONDS * 1_000 }
    windows.set(client, fresh)
    return fresh
  }

  function count(client: string): Allowance {
    const at = now()
    const window = windowOf(client, at)
    window.used++
    const remaining = Math.max(0, requestsPerMinute - window.used)
    // A sum of fractions may come to a little more than the window.
    const secondsLeft = Math.min(WINDOW_SECONDS, Math.ceil((window.endsAt - at) / 1_000))
    return {
      isExceeded: window.used > requestsPerMinute,
      secondsLeft,
      headers: { 'RateLimit-Policy': policy, RateLimit: `"default";r=${remaining};t=${secondsLeft}` },
    }
  }

  return {
    count,
    isBarred(client) {
      const window = windows.get(client)
      if (window === undefined || now() >= window.endsAt) return false
      return window.used > requestsPerMinute + MAX_REFUSALS
    },
    giveBack(client) {
      const window = windows.get(client)
      if (window !== undefined && window.used > 0) window.used--
    },
  }
}
