import { performance } from 'node:perf_hooks'
import type { Request, RequestHandler } from 'express'
import type { Config } from '../config/config.js'
import { relayTokenCheck } from './auth.js'
import { Problem } from './errors.js'
import { hangUpWith, isBeyondCap } from './listener.js'
import { countedOf, limitRate } from './rateLimit.js'
import type { ClientReaders } from './readers.js'
import { createUnderWay } from './underWay.js'

const READ_METHODS: readonly string[] = ['GET', 'HEAD']
const RELAY = /^\/relay(?:\/|$)/
const RUNS = /^\/runs(?:\/|$)/

export interface LimitOptions {
  readonly http: Pick<Config['http'], 'rateLimitPerMinute' | 'maxUnderWay' | 'maxUnderWayPerClient'>
  /** The relay's shared token: the requests that show it are never refused here. */
  readonly authToken: string
  readonly readers: Pick<ClientReaders, 'answer' | 'waitMs'>
  /** Milliseconds of the monotonic clock, for the rates. */
  readonly now?: (() => number) | undefined
  /** How much of its time the event loop has been busy since the last call; default: as Node measures it. */
  readonly utilization?: (() => number) | undefined
}

/**
 * Decides which requests the server takes, before a body is read.
 *
 * - A connection beyond its client's cap gets 429 `too-many-at-once`, whatever is asked on it.
 * - On any other, a probe is taken: its answer is in memory. So are relay requests that show the relay's token: refusing one would undo
 *   accepted work.
 * - Results of runs are refused by rate alone, for the same reason, where an enclave posts them. Their signature covers the body, so it
 *   cannot be checked first. Each counts against the rate until its answer is sent, and after that only if the answer is 4xx.
 * - Any other request counts as it comes. A read counts no longer once it is answered 304: a page that
 *   polls what does not change costs next to nothing.
 * - Over its client's rate a request gets 429 `rate-limited`. So does a read when the client's reads have caused too many calls of the nodes.
 * - A request gets 503 `overloaded` with all places taken, or if its client asks for more than its share while the process has no rest.
 * - A request gets 429 `too-many-at-once` beyond its client's places, or those of its site.
 * - A request holds its place from when its body has arrived. A body that takes too long gets 408 (`createUnderWay`).
 */
export function limitClients(options: LimitOptions): RequestHandler {
  const { http, authToken, now } = options
  const hasToken = relayTokenCheck(authToken)
  const countCost = limitRate({
    limitPerMinute: http.rateLimitPerMinute,
    isFree: (req, res) =>
      RUNS.test(req.path) ? res.statusCode < 400 || res.statusCode >= 500 : res.statusCode === 304,
    ...(now !== undefined && { now }),
  })
  const takePlace = createTakePlace(options)
  return (req, res, next) => {
    if (isBeyondCap(req.socket)) {
      throw new Problem('too-many-at-once', { headers: { Connection: 'close' } })
    }
    if (isProbe(req) || (RELAY.test(req.path) && hasToken(req.headers.authorization))) return next()
    return countCost(req, res, (error?: unknown) => {
      if (error !== undefined || RUNS.test(req.path)) next(error)
      else takePlace(req, res, next)
    })
  }
}

/** A `GET /health` as probes send it. A page's is a request like any other. */
function isProbe({ path, method, headers }: Request): boolean {
  return path === '/health' && READ_METHODS.includes(method) && headers.origin === undefined
}

function createTakePlace({ http, readers, now, utilization }: LimitOptions): RequestHandler {
  const underWay = createUnderWay(http)
  const isBeyondShare = createShareWhenBusy(
    Math.max(LEAST_SHARE, http.rateLimitPerMinute / 60),
    now,
    utilization,
  )
  return (req, res, next) => {
    const { client } = res.locals
    const isRead = READ_METHODS.includes(req.method)
    if (isBeyondShare(client)) throw new Problem('overloaded')
    const waitMs = isRead ? readers.waitMs(client) : 0
    if (waitMs > 0) {
      throw new Problem('rate-limited', { headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) } })
    }
    const refusal = underWay.begin({
      client,
      isRead,
      // Nobody reads the body of a read.
      bodyOf: !isRead && hasBody(req) ? req : undefined,
      res,
      giveUp: () => hangUpWith(req.socket, 'request-timeout'),
    })
    if (refusal !== undefined) throw new Problem(refusal)
    readers.answer(client, next)
  }
}

/** Whether a body is still to come (RFC 9112, 6.3). */
function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

const SAMPLE_MS = 1_000
/** Requests a second that no client is refused for, however low the rate. */
const LEAST_SHARE = 100
/** Above this share of its time the event loop counts as busy. */
const BUSY = 0.98

/**
 * Samples each second whether the event loop has had any rest. Where it has had none, a client may ask no faster than its rate in the
 * next second, whatever its requests cost: views that have not changed take CPU, too, and a client that floods the server must not
 * have others refused.
 *
 * @param perSecond requests of one client; its site has `countedOf` as many
 * @returns whether the client's next request is beyond that
 */
function createShareWhenBusy(
  perSecond: number,
  now = () => performance.now(),
  utilization = measureUtilization(),
): (client: string) => boolean {
  const asked = new Map<string, number>()
  let sampledAt = now()
  let isBusy = false
  return (client) => {
    if (now() - sampledAt >= SAMPLE_MS) {
      sampledAt = now()
      isBusy = utilization() > BUSY
      asked.clear()
    }
    let isBeyond = false
    for (const { key, clients } of countedOf(client)) {
      const count = (asked.get(key) ?? 0) + 1
      asked.set(key, count)
      if (count > clients * perSecond) isBeyond = true
    }
    return isBusy && isBeyond
  }
}

function measureUtilization(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const current = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(current, before)
    before = current
    return utilization
  }
}
