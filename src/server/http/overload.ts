import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hostFault } from '../../service/hostField.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import { createSendProblem, isUnchanged } from './answers.js'
import { relayTokenCheck } from './auth.js'
import { type Backpressure, createBackpressure, createQueueingDelay } from './backpressure.js'
import { Problem } from './errors.js'
import type { Answer } from './fastRoutes.js'
import { hangUpWith } from './listener.js'
import { type HttpObserver, preflightAnswer } from './middleware.js'
import { PROBLEMS, type ProblemCode } from './problemCodes.js'
import { type Allowance, addressOf, clientOf, createClientRateLimit } from './rateLimit.js'
import type { ClientReaders } from './readers.js'
import { createUnderWay } from './underWay.js'

/** Refusals are logged this often, however many they are. */
const LOG_INTERVAL_MS = 1_000
const TOO_MANY_LOGGED = 'requests refused: too many of one client'

const HEALTH = /^\/health(?:\?|$)/
const RELAY = /^\/relay(?:[/?]|$)/
const RUNS = /^\/runs(?:[/?]|$)/

/** Share of Retry-After, or of Node's timeout, after which reading resumes. */
const PAUSE_SHARE = 0.9
/** What a request takes of its client's rate: a post may cost chain, disk and gas. */
const [READ_COST, POST_COST] = [1, 10]
const READ_METHODS: readonly (string | undefined)[] = ['GET', 'HEAD']

export interface LoadSheddingOptions {
  /** Longest wait for a request's turn, in milliseconds. */
  readonly maxWaitMs: number
  /** Requests that may be under way at once; a tenth of them, rounded down, is kept for requests that are not reads. */
  readonly maxUnderWay: number
  /** Those of one client. */
  readonly maxUnderWayPerClient: number
  /** What one client's requests may cost in a minute; probes cost nothing. */
  readonly rateLimitPerMinute: number
  /** Reverse proxies in front. */
  readonly trustProxy: number
  /** The one origin whose pages may read the refusal. */
  readonly frontendOrigin: string
  /** The relay's shared token: the requests that show it are never refused here. */
  readonly authToken: string
  readonly readers: Pick<ClientReaders, 'answer'>
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  readonly logger: Logger
  /** Called with each refusal. */
  readonly observe: HttpObserver
  /** Whether a request comes too late; default: by its queueing delay in the event loop. */
  readonly isLate?: () => boolean
  /** Pauses the connections of refused requests; without it the server goes on reading them. */
  readonly backpressure?: Backpressure | undefined
  /** Milliseconds of the monotonic clock, for the rates. */
  readonly now?: () => number
}

export interface LoadShedding {
  readonly listener: RequestListener
  /** For a connection beyond its client's cap: refuses the request, and ends the connection. */
  readonly refuseConnection: RequestListener
}

/**
 * Decides before Express which requests the server takes. A refusal costs next to nothing: the server reads no body, logs no line,
 * and stops reading the connection (`backpressure`).
 *
 * - A probe is always taken: its answer is in memory. A client that asks faster than its rate is left unread for a while.
 * - Relay requests that show the relay's token are always taken: refusing one would undo accepted work.
 * - Results of runs are taken for the same reason, where an enclave posts them. Their signature covers the body, so it cannot be
 *   checked first. Each counts against the rate until its answer is sent, and after that only if the answer is 4xx.
 * - Any other post counts as it comes. A read counts once it is answered, and not at all if its answer was sent before
 *   (`isUnchanged`): such an answer costs next to nothing.
 * - Over its client's rate a request gets 429 `rate-limited`; a further one pipelined behind that closes the connection.
 * - A request gets 503 `overloaded` when the process could only answer it late, by its queueing delay (`createQueueingDelay`) or by
 *   the number of requests under way.
 * - A request gets 429 `too-many-at-once` beyond its client's share of these, or that of its client's site.
 * - A request holds its place from when its body has arrived. A body that takes too long gets 408 (`createUnderWay`).
 */
export function shedLoad(app: Answer, options: LoadSheddingOptions): LoadShedding {
  const { trustProxy, stopping, backpressure, rateLimitPerMinute, now } = options
  const requests = createClientRateLimit(rateLimitPerMinute, now)
  const probes = createClientRateLimit(rateLimitPerMinute, now)
  const hasToken = relayTokenCheck(options.authToken)
  const takeUnlessLate = createTake(app, options)
  const refuse = createRefusal('rate-limited', 'requests refused: rate-limited', options)

  /** Connections on which a refusal by rate is under way. */
  const refusing = new WeakSet<Socket>()

  function refuseLimited(req: IncomingMessage, res: ServerResponse, allowance: Allowance): void {
    const { secondsLeft, headers } = allowance
    const { socket } = req
    // A client that does not read its refusal gets no second one. A proxy's connection speaks for many clients.
    if (backpressure !== undefined) {
      if (refusing.has(socket)) {
        socket.destroy()
        return
      }
      refusing.add(socket)
      res.once('close', () => refusing.delete(socket))
    }
    afterAnswer(res, () => backpressure?.pauseFor(socket, PAUSE_SHARE * secondsLeft * 1_000))
    refuse(req, res, { ...headers, 'Retry-After': String(secondsLeft) })
  }

  /** Leaves a client unread for a while that asks faster than its rate: answers that cost nothing else take CPU, too. */
  function pace(req: IncomingMessage, res: ServerResponse, { pauseMs }: Allowance): void {
    if (pauseMs > 0) afterAnswer(res, () => backpressure?.pauseFor(req.socket, pauseMs))
  }

  function pay(res: ServerResponse, client: string, isPost: boolean): void {
    if (isPost) requests.spend(client, POST_COST)
    else res.once('close', () => isUnchanged(res) || requests.spend(client, READ_COST))
  }

  function takeRun(req: IncomingMessage, res: ServerResponse, client: string): void {
    requests.spend(client, POST_COST)
    res.once('finish', () => {
      if (res.statusCode < 400 || res.statusCode >= 500) requests.giveBack(client, POST_COST)
    })
    app(req, res)
  }

  function listener(req: IncomingMessage, res: ServerResponse): void {
    const url = req.url ?? ''
    const client = clientOf(addressOf(req, trustProxy))
    if (!stopping.aborted && isProbe(req)) {
      pace(req, res, probes.ask(client, READ_COST))
      app(req, res)
      return
    }
    if (RELAY.test(url) && hasToken(req.headers.authorization)) {
      app(req, res)
      return
    }
    const isPost = req.method === 'POST'
    const allowance = requests.ask(client, isPost ? POST_COST : READ_COST)
    if (allowance.isExceeded) {
      refuseLimited(req, res, allowance)
    } else if (RUNS.test(url)) {
      takeRun(req, res, client)
    } else {
      pay(res, client, isPost)
      pace(req, res, allowance)
      takeUnlessLate(req, res, client, allowance.headers)
    }
  }

  const refuseAtOnce = createRefusal('too-many-at-once', TOO_MANY_LOGGED, options)
  return {
    listener,
    refuseConnection(req, res) {
      // Also on the answer to a preflight.
      res.setHeader('Connection', 'close')
      refuseAtOnce(req, res, {})
    },
  }
}

type Take = (
  req: IncomingMessage,
  res: ServerResponse,
  client: string,
  headers: Readonly<Record<string, string>>,
) => void

/** Hands a request to the app, with these headers on its answer, unless the process could only answer it late. */
function createTake(app: Answer, options: LoadSheddingOptions): Take {
  const { readers, maxWaitMs, maxUnderWay, maxUnderWayPerClient, backpressure } = options
  const isLate = options.isLate ?? createQueueingDelay({ maxWaitMs })
  const refusals = {
    overloaded: createRefusal('overloaded', 'requests refused: overloaded', options),
    'too-many-at-once': createRefusal('too-many-at-once', TOO_MANY_LOGGED, options),
  }
  const underWay = createUnderWay({ maxUnderWay, maxUnderWayPerClient })

  function refusalOf(req: IncomingMessage, res: ServerResponse, client: string) {
    // Every request asks `isLate`, because it has to see where a turn begins.
    if (isLate() || backpressure?.hasWaitedOut(req.socket)) return 'overloaded'
    return underWay.begin({
      client,
      isRead: READ_METHODS.includes(req.method),
      // Nobody reads the body of a read.
      bodyOf: !READ_METHODS.includes(req.method) && hasBody(req) ? req : undefined,
      res,
      giveUp: () => hangUpWith(req.socket, 'request-timeout'),
    })
  }

  return (req, res, client, headers) => {
    const refusal = refusalOf(req, res, client)
    if (refusal === undefined) {
      readers.answer(client, READ_METHODS.includes(req.method), res, () => app(req, res, headers))
    } else if (refusals[refusal](req, res, {})) afterAnswer(res, () => backpressure?.pause(req.socket))
  }
}

/** Whether a body is still to come (RFC 9112, 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** A `GET /health` as probes send it. A page's or a conditional one is a request like any other. */
function isProbe(req: IncomingMessage): boolean {
  const { method, url = '', headers } = req
  return (
    HEALTH.test(url) &&
    READ_METHODS.includes(method) &&
    hostFault(req) === undefined &&
    headers.origin === undefined &&
    headers['if-none-match'] === undefined
  )
}

/** After an answer Node resumes the connection to read the rest of the body, so the pause has to come later. */
function afterAnswer(res: ServerResponse, pause: () => void): void {
  if (res.shouldKeepAlive) res.once('close', () => setImmediate(pause))
}

/**
 * Answers with that problem, from parts that are made once, and counts it. It answers a preflight of the one origin
 * normally: a refused preflight would keep the page from reading why its next request is refused.
 *
 * @returns false for such a preflight
 */
function createRefusal(code: ProblemCode, logged: string, options: LoadSheddingOptions) {
  const problem = new Problem(code)
  const { status } = problem
  const send = createSendProblem(options.frontendOrigin)
  const answerPreflight = preflightAnswer(options.frontendOrigin)
  const report = reportEachSecond(options.logger, logged, { code })
  return (req: IncomingMessage, res: ServerResponse, headers: Readonly<Record<string, string>>): boolean => {
    if (answerPreflight(req, res)) return false
    send(req, res, problem, headers)
    report()
    const method = req.method ?? ''
    options.observe({ method, route: 'unmatched', status, code, durationMs: 0, isAborted: false })
    return true
  }
}

type ConnectionTimeouts = Pick<Config['http'], 'keepAliveTimeoutMs' | 'headersTimeoutMs' | 'requestTimeoutMs'>
type ConnectionLimits = ConnectionTimeouts & Pick<Config['http'], 'trustProxy' | 'maxConnections'>

/** Pauses reading from refused clients. Undefined behind a proxy, where a connection speaks for many clients. */
export function backpressureFor(http: ConnectionLimits): Backpressure | undefined {
  if (http.trustProxy > 0) return undefined
  // A hang-up shows only when the connection is read, so paused connections must not fill the server.
  const maxPaused = Math.ceil(http.maxConnections / 2)
  return createBackpressure({ ...maxPauseMs(http), maxPaused })
}

/** The longest pauses of a refused connection: one that ends when the process rests, and one by rate. */
export function maxPauseMs(http: ConnectionTimeouts): { maxPauseMs: number; maxRatePauseMs: number } {
  const maxRatePauseMs =
    PAUSE_SHARE * Math.min(http.keepAliveTimeoutMs, http.headersTimeoutMs, http.requestTimeoutMs)
  const retryAfterMs = PROBLEMS.overloaded.retryAfterSeconds * 1_000
  return { maxPauseMs: Math.min(PAUSE_SHARE * retryAfterMs, maxRatePauseMs), maxRatePauseMs }
}

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
