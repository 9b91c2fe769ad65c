import type { RequestHandler } from 'express'
import { createRecentMap } from '../recentMap.js'
import { clientOf } from './client.js'
import { Problem } from './problems.js'

const WINDOW_SECONDS = 60
/** Clients that are counted at the same time; beyond that, the oldest window is forgotten first. */
const MAX_CLIENTS = 50_000

interface Window {
  used: number
  /** Unix ms. */
  readonly endsAt: number
}

/**
 * Limits what one client (`clientOf`) may ask for in a minute that begins with its first request. Tells it
 * by `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) and answers 429 with `Retry-After`.
 *
 * @param now milliseconds of a clock that nobody sets
 */
export function clientRateLimit(
  requestsPerMinute: number,
  now: () => number = () => performance.now(),
): RequestHandler {
  const windows = createRecentMap<string, Window>(MAX_CLIENTS)
  const policy = `"default";q=${requestsPerMinute};w=${WINDOW_SECONDS}`

  function windowOf(client: string, at: number): Window {
    const current = windows.get(client)
    if (current !== undefined && at < current.endsAt) return current
    const fresh = { used: 0, endsAt: at + WINDOW_SECONDS * 1_000 }
    windows.set(client, fresh)
    return fresh
  }

  return (req, res, next) => {
    const at = now()
    const window = windowOf(clientOf(req.ip), at)
    window.used++
    const remaining = Math.max(0, requestsPerMinute - window.used)
    const secondsLeft = Math.ceil((window.endsAt - at) / 1_000)
    res.setHeader('RateLimit-Policy', policy)
    res.setHeader('RateLimit', `"default";r=${remaining};t=${secondsLeft}`)
    if (window.used > requestsPerMinute) {
      throw new Problem('rate-limited', { headers: { 'Retry-After': String(secondsLeft) } })
    }
    next()
  }
}
