import type { RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import { Problem } from './problems.js'

const WINDOW_MS = 60_000

/**
 * Bounds what one client (IP address, IPv6 by /56) may ask for in a minute. Announces itself in the IETF draft's
 * `RateLimit` and `RateLimit-Policy` fields and answers 429 with `Retry-After`.
 */
export function clientRateLimit(requestsPerMinute: number): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: requestsPerMinute,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // The library's advice goes to the console; TRUST_PROXY is checked by the configuration's schema instead.
    validate: false,
    handler: (_req, _res, next) => next(new Problem('rate-limited')),
  })
}
