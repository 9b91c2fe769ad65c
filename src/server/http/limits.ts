import type { EventEmitter } from 'node:events'
import type { Request, RequestHandler, Response } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config/config.js'
import { noteUse } from '../limitUse.js'
import { relayTokenCheck } from './auth.js'
import { type ClientReaders, countedOf, createShares, MAX_COUNTED, siteOf, tooManyCalls } from './clients.js'
import { Problem } from './errors.js'
import { hangUpWith } from './listener.js'

const READ_METHODS: readonly string[] = ['GET', 'HEAD']
const RELAY = /^\/relay(?:\/|$)/
const RUNS = /^\/runs(?:\/|$)/
const FILES = /^\/(?:docs|errors|openapi\.json)(?:\/|$)/

export interface LimitOptions {
  readonly http: Pick<Config['http'], 'rateLimitPerMinute' | 'maxUnderWay' | 'maxUnderWayPerClient'>
  /** The relay's shared token: the requests that show it are never refused here. */
  readonly authToken: string
  readonly readers: Pick<ClientReaders, 'answer' | 'waitMs'>
  /** Milliseconds of the monotonic clock, for the rates. */
  readonly now?: (() => number) | undefined
}

/**
 * Decides which requests the server accepts, before a body is read.
 *
 * - A probe is accepted: its answer is in memory. So are relay requests that show the relay's token: refusing one would undo accepted work.
 * - Results of runs are refused by rate alone, for the same reason. Their signature covers the body, so each counts until its answer is
 *   sent, and after that only if the answer is 4xx. A read counts no longer once it is answered 304.
 * - Beyond its client's rate, or its calls of the nodes, a request gets 429 `rate-limited`; without a place 503 `overloaded`, or 429
 *   `too-many-at-once`. It acquires its place once its body has arrived (`createArrivals`).
 */
export function limitClients(options: LimitOptions): RequestHandler {
  const { http, authToken, now } = options
  const hasToken = relayTokenCheck(authToken)
  const countCost = limitRate(http.rateLimitPerMinute, now, (req, { statusCode }) =>
    RUNS.test(req.path) ? statusCode < 400 || statusCode >= 500 : statusCode === 304,
  )
  const acquirePlace = createPlaces(options)
  return (req, res, next) => {
    if (isProbe(req) || (RELAY.test(req.path) && hasToken(req.headers.authorization))) return next()
    return countCost(req, res, (error?: unknown) => {
      if (error !== undefined) next(error)
      else acquirePlace(req, res, next)
    })
  }
}

/** A `GET /health` as probes send it. A page's is a request like any other. */
function isProbe({ path, method, headers }: Request): boolean {
  return path === '/health' && READ_METHODS.includes(method) && headers.origin === undefined
}

/** The share of `maxUnderWay` that reads may use: pages that poll while a node or the broker hangs do not crowd out orders. */
const READ_SHARE = 0.9
/** A client's posts have priority over its reads: they may use this much more of its rate of calls. */
const POST_AHEAD_MS = 30_000

/**
 * Counts the requests under way: all, and those of one client or site. A request whose body is still to come holds no place, so
 * half-sent ones take nobody's. Limits are checked as headers come, so arriving bodies may exceed them by `MAX_ARRIVING` at most.
 */
function createPlaces({ http, readers }: LimitOptions): RequestHandler {
  const { maxUnderWay, maxUnderWayPerClient } = http
  const maxForReads = Math.ceil(maxUnderWay * READ_SHARE)
  const shares = createShares('at-once', 'all-at-once', maxUnderWayPerClient, maxUnderWay)
  const awaitBody = createArrivals()
  let count = 0

  function acquire(client: string, res: EventEmitter): void {
    const giveBack = shares.acquire(client)
    count++
    res.once('close', () => {
      count--
      giveBack()
    })
  }

  return (req, res, next) => {
    const { client } = res.locals
    const isRead = READ_METHODS.includes(req.method)
    if (RUNS.test(req.path)) {
      if (hasBody(req)) awaitBody(req, res)
      return next()
    }
    const waitMs = readers.waitMs(client) - (isRead ? 0 : POST_AHEAD_MS)
    if (waitMs > 0) throw tooManyCalls(waitMs)
    if (count >= (isRead ? maxForReads : maxUnderWay)) throw new Problem('overloaded')
    if (!shares.hasRoom(client)) throw new Problem('too-many-at-once')
    // Nobody reads the body of a read.
    if (!isRead && hasBody(req)) awaitBody(req, res, () => acquire(client, res))
    else acquire(client, res)
    readers.answer(client, next)
  }
}

/** Whether a body is still to come (RFC 9112, 6.3). */
function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Time limit for a body to arrive, from its headers on. */
export const BODY_TIMEOUT_MS = 10_000
/** Bodies on their way at once. Of more, the oldest is given up: of the site that has most, if that is over a tenth, else of all. */
export const MAX_ARRIVING = 1_000

function createArrivals() {
  /** Give up requests whose bodies are still to come, each with its site; the oldest first. */
  const arriving = new Map<() => void, string>()
  const counts = new Map<string, number>()

  function giveUpOldest(): void {
    let [site, most]: [string | undefined, number] = [undefined, MAX_ARRIVING / 10]
    for (const [each, count] of counts) if (count > most) [site, most] = [each, count]
    for (const [giveUp, of] of arriving) {
      if (of !== (site ?? of)) continue
      giveUp()
      return
    }
  }

  return (req: Request, res: Response, onArrival = () => {}): void => {
    if (arriving.size >= MAX_ARRIVING) giveUpOldest()
    const site = siteOf(res.locals.client)
    const giveUp = () => {
      stop()
      hangUpWith(req.socket, 'request-timeout')
    }
    const arrive = () => {
      stop()
      onArrival()
    }
    const stop = () => {
      clearTimeout(timer)
      req.off('end', arrive)
      if (!arriving.delete(giveUp)) return
      const left = (counts.get(site) ?? 0) - 1
      if (left > 0) counts.set(site, left)
      else counts.delete(site)
    }
    const timer = setTimeout(giveUp, BODY_TIMEOUT_MS).unref()
    arriving.set(giveUp, site)
    counts.set(site, (counts.get(site) ?? 0) + 1)
    noteUse('arriving', arriving.size / MAX_ARRIVING)
    req.once('end', arrive)
    res.once('close', stop)
  }
}

const WINDOW_MS = 60_000
/**
 * The cost of a request, in units of its client's rate. A post costs at least the recovery of a signer, some 2 ms, and may cost chain, disk and gas; a
 * file of the documentation 11 ms, and has up to 1.7 MB.
 */
const [READ_COST, POST_COST, FILE_COST] = [1, 30, 100]

/**
 * Sets the headers that report the remaining quota. The library's own (`draft-8`) have the client's name in them, hashed anew for each answer: a
 * twentieth of what a read costs.
 * @returns the seconds until the limit begins anew
 */
function setQuotaHeaders({ rateLimit: info }: Request, res: Response): string {
  const { limit = 0, remaining = 0, resetTime } = info ?? {}
  noteUse('rate', 1 - remaining / limit)
  const seconds = String(Math.max(0, Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1_000)))
  res.setHeader('RateLimit-Policy', `"default"; q=${limit}; w=${WINDOW_MS / 1_000}`)
  res.setHeader('RateLimit', `"default"; r=${remaining}; t=${seconds}`)
  return seconds
}

/**
 * Counts what the requests of each client (`clientOf`) and its site cost in a minute that begins with their first one, and refuses
 * those beyond the limit. Every answer reports the remaining quota: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers).
 */
function limitRate(
  limitPerMinute: number,
  now: (() => number) | undefined,
  /** Gives a request's cost back once it is answered. */
  isFree: (req: Request, res: Response) => boolean,
): RequestHandler {
  const windows = createWindows(now)
  const [ofReads, ofPosts, ofFiles] = [READ_COST, POST_COST, FILE_COST].map((cost) =>
    rateLimit({
      windowMs: WINDOW_MS,
      limit: limitPerMinute,
      // A client may still post once a minute under a low limit.
      store: windows.charging(Math.min(cost, limitPerMinute), limitPerMinute),
      keyGenerator: (_req, res) => res.locals.client,
      skipSuccessfulRequests: true,
      requestWasSuccessful: isFree,
      standardHeaders: false,
      legacyHeaders: false,
      // It would reject what is intended here, such as a key of our own.
      validate: false,
      handler(req, res) {
        throw new Problem('rate-limited', { headers: { 'Retry-After': setQuotaHeaders(req, res) } })
      },
    }),
  )
  return (req, res, next) => {
    const limiter = req.method === 'POST' ? ofPosts : FILES.test(req.path) ? ofFiles : ofReads
    return limiter?.(req, res, (error?: unknown) => {
      if (error === undefined) setQuotaHeaders(req, res)
      next(error)
    })
  }
}

/** The windows of clients and sites, for limiters that charge different costs to them. */
function createWindows(now = () => performance.now()) {
  const windows = new LRUCache<string, { used: number; readonly endsAt: number }>({ max: MAX_COUNTED })

  function add(key: string, cost: number) {
    const current = windows.get(key)
    if (current !== undefined && now() < current.endsAt) {
      current.used = Math.max(0, current.used + cost)
      return current
    }
    const window = { used: Math.max(0, cost), endsAt: now() + WINDOW_MS }
    windows.set(key, window)
    return window
  }

  return {
    charging: (cost: number, limit: number): Store => ({
      increment(client) {
        const own = add(client, cost)
        let { used: totalHits, endsAt } = own
        const site = countedOf(client)[1]
        if (site !== undefined) {
          // A client's refusals do not count against its neighbours. A site may use several clients' worth.
          const ofSite = add(site.key, own.used <= limit ? cost : 0)
          const share = Math.ceil(ofSite.used / site.clients)
          if (share > totalHits) [totalHits, endsAt] = [share, ofSite.endsAt]
        }
        return { totalHits, resetTime: new Date(Date.now() + endsAt - now()) }
      },
      decrement(client) {
        for (const { key } of countedOf(client)) add(key, -cost)
      },
      resetKey: (client) => void windows.delete(client),
    }),
  }
}
