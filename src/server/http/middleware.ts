import { randomUUID } from 'node:crypto'
import cors from 'cors'
import express, { type Request, type RequestHandler } from 'express'
import type { RateLimitInfo } from 'express-rate-limit'
import helmet from 'helmet'
import { RULEBOOK_AUTHOR } from '../../protocol/sealedRulebook.js'
import { hostFault } from '../../service/hostField.js'
import type { Logger } from '../../service/logger.js'
import { clientOf } from './clients.js'
import { Problem } from './errors.js'
import type { ProblemCode } from './problemCodes.js'

/**
 * An Express app that names itself to no one, matches a path as it is written, and notes each request's client.
 * @param trustProxy reverse proxies in front
 */
export function createBareApp(trustProxy = 0): ReturnType<typeof express> {
  const app = express()
  app.disable('x-powered-by')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  // No route has a query.
  app.set('query parser', false)
  app.set('trust proxy', trustProxy)
  app.use((req, res, next) => {
    // Express reads the proxies' header for `req.ip` even where it trusts none.
    res.locals.client = clientOf(trustProxy === 0 ? req.socket.remoteAddress : req.ip)
    next()
  })
  return app
}

/** The middleware that a request to any of the API's ports passes before its limits. */
export function firstHandlers(logger: Logger, observe: HttpObserver): RequestHandler[] {
  return [requestId(), requestLog(logger, observe), ...securityHeaders(), requireHost]
}

declare global {
  namespace Express {
    interface Request {
      rateLimit?: RateLimitInfo
    }
    interface Locals {
      requestId: string
      /** The client that asks (`clientOf`). Set first of all. */
      client: string
      problemCode?: ProblemCode
    }
  }
}

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/

/**
 * Gives every response its `X-Request-Id` and every later middleware `res.locals.requestId`: the caller's own when it can't disturb a
 * log line, else a new one.
 */
export function requestId(): RequestHandler {
  return (req, res, next) => {
    const given = req.headers['x-request-id']
    res.locals.requestId = typeof given === 'string' && SANE_ID.test(given) ? given : randomUUID()
    res.setHeader('X-Request-Id', res.locals.requestId)
    next()
  }
}

/** Observes each request whose answer has gone out, or whose caller has gone away. */
export type HttpObserver = (request: {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly code: string | undefined
  readonly durationMs: number
  readonly isAborted: boolean
}) => void

/** Refusals of requests that the server has not read: a log line each would cost as much as the refusal. */
const REFUSALS: readonly ProblemCode[] = [
  'rate-limited',
  'too-many-at-once',
  'overloaded',
  'origin-not-allowed',
  'malformed-request',
]

/**
 * Logs one line per request, when its answer has gone out or its caller has gone away, and reports it to the metrics. Refusals have
 * one line a second for each code. Probes and preflights that are answered have none: no limit counts them, and anyone could fill the disk
 * with their lines.
 */
function requestLog(logger: Logger, observe: HttpObserver): RequestHandler {
  const reportRefusal = new Map(
    REFUSALS.map((code) => [code, reportEachSecond(logger, 'requests refused', { code })]),
  )
  return (req, res, next) => {
    const startedAt = performance.now()
    res.on('close', () => {
      const { requestId, problemCode: code } = res.locals
      const durationMs = performance.now() - startedAt
      const seen = { method: req.method, route: routeOf(req), status: res.statusCode, code }
      const isAborted = !res.writableFinished
      observe({ ...seen, durationMs, isAborted })
      const refused = code === undefined ? undefined : reportRefusal.get(code)
      if (refused !== undefined) return refused()
      const isUncounted = seen.route === '/health' || req.method === 'OPTIONS'
      if (isUncounted && code === undefined && !isAborted) return
      const rounded = Math.round(durationMs * 10) / 10
      logger.info('request', { requestId, ...seen, durationMs: rounded, ...(isAborted && { aborted: true }) })
    })
    next()
  }
}

const LOG_INTERVAL_MS = 1_000

/** Logs one line a second with the count, because a line each would cost as much as the refusal. */
export function reportEachSecond(
  logger: Logger,
  message: string,
  fields: { code?: ProblemCode } = {},
): () => void {
  let count = 0
  return () => {
    count++
    if (count > 1) return
    setTimeout(() => {
      logger.warn(message, { ...fields, count })
      count = 0
    }, LOG_INTERVAL_MS).unref()
  }
}

/**
 * The route's template. It has the whole path because no router is mounted below a path: Express would have forgotten that
 * path by now. A raw URL is never logged, because it has identifiers and a caller's own text.
 */
function routeOf(req: Request): string {
  const path: unknown = req.route?.path
  return typeof path === 'string' ? path : 'unmatched'
}

/**
 * Protects an answer that is no page (OWASP REST Security Cheat Sheet). No page may frame or embed it. No browser may run it,
 * guess its type, ask over plain HTTP, or serve it from its cache unasked. Headers for pages are omitted.
 */
export function securityHeaders(): RequestHandler[] {
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    referrerPolicy: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xPoweredBy: false,
    xXssProtection: false,
  })
  const revalidate: RequestHandler = (_req, res, next) => {
    res.setHeader('Cache-Control', 'private, no-cache')
    next()
  }
  return [protect, revalidate]
}

/** Refuses a request whose `Host` is missing, repeated or invalid. */
export const requireHost: RequestHandler = (req, _res, next) => {
  const detail = hostFault(req)
  if (detail !== undefined) throw new Problem('malformed-request', { detail })
  next()
}

/** Refuses requests that still arrive on a kept-alive connection once the server is stopping, and ends the connection. */
export function refuseWhenStopping(stopping: AbortSignal): RequestHandler {
  return (_req, _res, next) => {
    if (stopping.aborted) throw new Problem('shutting-down', { headers: { Connection: 'close' } })
    next()
  }
}

/**
 * Lets `If-None-Match` alone decide whether a read is answered 304.
 *
 * A page's `fetch` adds `Cache-Control: no-cache` to every request with `If-None-Match` (Fetch Standard,
 * "HTTP-network-or-cache fetch"), and Express then sends the whole answer again. The directive is for caches on the
 * way (RFC 9111, 5.2.1.4): an origin answers a precondition whatever it says (RFC 9110, 13.1.2).
 */
export const conditionalReads: RequestHandler = (req, _res, next) => {
  delete req.headers['cache-control']
  next()
}

const PREFLIGHT_MAX_AGE_SECONDS = 600

/** Headers of an answer that the frontend's pages may read, besides those that any page may (Fetch standard). */
const EXPOSED_HEADERS = ['ETag', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id']

/**
 * Lets exactly one cross-origin origin in. Any other `Origin` (`null`, look-alikes, an empty one) is refused before a handler runs:
 * a page elsewhere can't even cause an effect.
 * A request without `Origin` (enclave, pinger, curl) passes.
 *
 * @param allowed `scheme://host[:port]`, as a browser sends it
 */
export function originCheck(allowed: string): RequestHandler {
  const options = {
    origin: allowed,
    methods: ['GET', 'POST'],
    allowedHeaders: ['Content-Type', 'If-None-Match', RULEBOOK_AUTHOR, 'X-Request-Id'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
  }
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
