// The rate limit as the broker's answers state it: `X-RateLimit-Limit`, `-Remaining` and `-Reset`, in Unix seconds.
import type { IncomingHttpHeaders } from 'node:http'

/** The broker counts by the minute; a reset that is further away comes from a clock that is wrong. */
export const WINDOW_MS = 60_000

/** The limit that an answer states, undefined where it states none. The time that is left goes by the broker's own clock. */
export function statedLimit(headers: IncomingHttpHeaders, unixNow: number) {
  const limit = numberIn(headers['x-ratelimit-limit'])
  const remaining = numberIn(headers['x-ratelimit-remaining'])
  const reset = numberIn(headers['x-ratelimit-reset'])
  if (limit === undefined || limit === 0 || remaining === undefined || reset === undefined) return undefined
  return { limit, remaining, reset, leftMs: untilReset(headers, unixNow) ?? 0 }
}

/** Milliseconds until the stated reset; undefined where the answer states none. */
export function untilReset(headers: IncomingHttpHeaders, unixNow: number): number | undefined {
  const reset = numberIn(headers['x-ratelimit-reset'])
  if (reset === undefined) return undefined
  const sentAt = Date.parse(headers.date ?? '')
  const leftMs = reset * 1_000 - (Number.isNaN(sentAt) ? unixNow : sentAt)
  return Math.min(Math.max(0, leftMs), WINDOW_MS)
}

function numberIn(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,11}$/.test(header) ? Number(header) : undefined
}

/** The stated reset, by the broker's clock. */
export function resetAt(headers: IncomingHttpHeaders): Date | undefined {
  const reset = numberIn(headers['x-ratelimit-reset'])
  return reset === undefined ? undefined : new Date(reset * 1_000)
}
