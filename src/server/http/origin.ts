import type { IncomingMessage, ServerResponse } from 'node:http'
import cors from 'cors'
import type { RequestHandler } from 'express'
import { Problem } from './errors.js'

const PREFLIGHT_MAX_AGE_SECONDS = 600

/** Headers of an answer that the frontend's pages may read, besides those that any page may (Fetch standard). */
const EXPOSED_HEADERS = ['ETag', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id']

/** Lets the pages of that origin read an answer, as `originCheck` does. */
export function readableBy(origin: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(','),
  }
}

function corsOptions(allowed: string) {
  return {
    origin: allowed,
    methods: ['GET', 'POST'],
    allowedHeaders: ['Content-Type', 'If-None-Match', 'X-Request-Id'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
  }
}

/**
 * Lets exactly one cross-origin origin in. Any other `Origin` (`null`, look-alikes, an empty one) is refused
 * before a handler runs, so that a page elsewhere can't even cause an effect whose answer it may not read.
 * A request without `Origin` (enclave, pinger, curl) passes.
 *
 * @param allowed `scheme://host[:port]`, as a browser sends it
 */
export function originCheck(allowed: string): RequestHandler {
  const options = corsOptions(allowed)
  const answerPreflight = cors(options)
  const addHeaders = cors({ ...options, preflightContinue: true })
  return (req, res, next) => {
    const { origin, 'access-control-request-method': requestedMethod } = req.headers
    res.setHeader('Vary', 'Origin')
    if (origin === undefined) return next()
    if (origin !== allowed) throw new Problem('origin-not-allowed')
    // An OPTIONS request that asks for no method is no preflight (Fetch standard): it goes on to its route's 405.
    if (requestedMethod === undefined) addHeaders(req, res, next)
    else answerPreflight(req, res, next)
  }
}

/**
 * Answers a preflight of the one origin's pages, as `originCheck` does, before Express has seen it. False when it is none.
 *
 * @param allowed as for `originCheck`
 */
export function preflightAnswer(allowed: string): (req: IncomingMessage, res: ServerResponse) => boolean {
  const answer = cors(corsOptions(allowed))
  return (req, res) => {
    const { origin, 'access-control-request-method': requestedMethod } = req.headers
    if (req.method !== 'OPTIONS' || origin !== allowed || requestedMethod === undefined) return false
    res.setHeader('Vary', 'Origin')
    answer(req, res, () => undefined)
    return true
  }
}
