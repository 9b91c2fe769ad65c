import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Config } from '../config.js'
import type { Logger } from '../logger.js'
import type { HttpObserver } from '../metrics/httpMetrics.js'
import { type Backpressure, createBackpressure } from './backpressure.js'
import { createLateness } from './lateness.js'
import { preflightAnswer } from './origin.js'
import { PROBLEMS } from './problemCodes.js'
import { Problem } from './problems.js'
import { createSendProblem } from './rawProblem.js'

/** How often refusals are logged, however many they are. */
const LOG_INTERVAL_MS = 1_000

/**
 * Never refused: `/health`, as a probe that is refused gets a healthy server restarted, and what the enclave says and
 * its runs wait for, as refusing it would undo work that is accepted. The relay has limits of its own.
 */
const ALWAYS_TAKEN = /^\/(?:health|relay|runs)(?:[/?]|$)/

/** The share of `maxUnderWay` that reads may take: whoever polls while a node or the broker hangs leaves room for orders. */
const READ_SHARE = 0.9
/** Of the time until a caller may come back, or until Node ends the connection: it is read again before either. */
const UNREAD_SHARE = 0.9
const READ_METHODS: readonly (string | undefined)[] = ['GET', 'HEAD']

export interface LoadSheddingOptions {
  /** Longest wait for a request's turn, in milliseconds. */
  readonly maxWaitMs: number
  /** Requests that may be under way at once; a tenth of them, rounded down, is kept for what is no read. */
  readonly maxUnderWay: number
  /** The one origin whose pages may read the refusal. */
  readonly frontendOrigin: string
  readonly logger: Logger
  /** Is told of each refusal. */
  readonly observe: HttpObserver
  /** Whether a request comes too late; by default as the event loop tells. */
  readonly isLate?: () => boolean
  /** For the connections of what is refused; left out, they are read on. */
  readonly backpressure?: Backpressure | undefined
}

/**
 * Refuses with 503 `overloaded` what the process could only answer late, before anything else is done for it: no body
 * is read, no line logged. What is taken is answered in time, and so refusing must cost next to nothing. Callers who ask again at
 * once are not heard at first (`backpressure`).
 *
 * Two things can be short: the event loop's time, of which `createLateness` tells, and whatever requests wait for, such as
 * a node or the disk, which shows in how many are under way.
 */
export function shedLoad(app: RequestListener, options: LoadSheddingOptions): RequestListener {
  const { maxWaitMs, maxUnderWay, frontendOrigin, observe, backpressure } = options
  const isLate = options.isLate ?? createLateness({ maxWaitMs })
  const report = createReport(options.logger)
  const send = createSendProblem(frontendOrigin)
  const answerPreflight = preflightAnswer(frontendOrigin)
  const problem = new Problem('overloaded')
  const maxForReads = Math.ceil(maxUnderWay * READ_SHARE)
  let underWay = 0
  const end = () => {
    underWay--
  }

  function refuse(req: IncomingMessage, res: ServerResponse): void {
    // Refused itself, it would keep the page from reading why what it asks next is refused.
    if (answerPreflight(req, res)) return
    // Once it has answered, Node resumes the connection for the rest of the body: after that.
    if (backpressure && res.shouldKeepAlive) {
      res.once('close', () => setImmediate(backpressure.leaveUnread, req.socket))
    }
    send(req, res, problem)
    report()
    const { status, code } = problem
    observe({ method: req.method ?? '', route: 'unmatched', status, code, durationMs: 0, isAborted: false })
  }

  return (req, res) => {
    if (ALWAYS_TAKEN.test(req.url ?? '')) {
      app(req, res)
      return
    }
    // `isLate` is asked of every one, as it has to see where a turn begins.
    const isTooLate = isLate() || backpressure?.hasWaitedOut(req.socket)
    if (isTooLate || underWay >= (READ_METHODS.includes(req.method) ? maxForReads : maxUnderWay)) {
      refuse(req, res)
      return
    }
    underWay++
    res.once('close', end)
    app(req, res)
  }
}

type ConnectionTimeouts = Pick<Config['http'], 'keepAliveTimeoutMs' | 'headersTimeoutMs' | 'requestTimeoutMs'>
type ConnectionLimits = ConnectionTimeouts & Pick<Config['http'], 'trustProxy' | 'maxConnections'>

/** What leaves refused clients unread; behind a proxy nothing does, as a connection speaks for many clients there. */
export function backpressureFor(http: ConnectionLimits): Backpressure | undefined {
  if (http.trustProxy > 0) return undefined
  // That a caller has hung up shows only when it is read: it must not keep others out.
  const maxUnread = Math.ceil(http.maxConnections / 2)
  return createBackpressure({ maxUnreadMs: maxUnreadMs(http), maxUnread })
}

/** For how long a refused connection may be left unread, in milliseconds. */
export function maxUnreadMs(http: ConnectionTimeouts): number {
  const retryAfterMs = PROBLEMS.overloaded.retryAfterSeconds * 1_000
  return (
    UNREAD_SHARE *
    Math.min(retryAfterMs, http.keepAliveTimeoutMs, http.headersTimeoutMs, http.requestTimeoutMs)
  )
}

/** A line a second with how many were refused: one for each would cost as much as the refusal. */
function createReport(logger: Logger): () => void {
  let count = 0
  return () => {
    count++
    if (count > 1) return
    setTimeout(() => {
      logger.warn('requests refused: overloaded', { code: 'overloaded', count })
      count = 0
    }, LOG_INTERVAL_MS).unref()
  }
}
