import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Logger } from '../logger.js'
import type { HttpObserver } from '../metrics/httpMetrics.js'
import { createBackpressure } from './backpressure.js'
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
/** The share of `Retry-After` for which a refused connection is left unread: who comes back in time finds it heard again. */
const UNREAD_SHARE = 0.9
const READ_METHODS: readonly (string | undefined)[] = ['GET', 'HEAD']

export interface LoadSheddingOptions {
  /** Longest wait for a request's turn, in milliseconds. */
  readonly maxWaitMs: number
  /** Requests that may be under way at once; a tenth of them, rounded down, is kept for what is no read. */
  readonly maxUnderWay: number
  /** Reverse proxies in front: with any, a connection speaks for many clients. */
  readonly trustProxy: number
  /** For how long a connection may rest, in milliseconds. */
  readonly keepAliveTimeoutMs: number
  /** The one origin whose pages may read the refusal. */
  readonly frontendOrigin: string
  readonly logger: Logger
  /** Is told of each refusal. */
  readonly observe: HttpObserver
  /** Whether a request comes too late; by default as the event loop tells. */
  readonly isLate?: () => boolean
}

/**
 * Refuses with 503 `overloaded` what the process could only answer late, before anything else is done for it: no header
 * is looked at, no body read, no line logged. What is taken is answered in time, and so refusing must cost next to nothing.
 *
 * Two things can be short: the event loop's time, of which `createLateness` tells, and whatever requests wait for, such as
 * a node or the disk, which shows in how many are under way.
 */
export function shedLoad(app: RequestListener, options: LoadSheddingOptions): RequestListener {
  const { maxWaitMs, maxUnderWay, trustProxy, keepAliveTimeoutMs, frontendOrigin, observe } = options
  const isLate = options.isLate ?? createLateness({ maxWaitMs })
  const report = createReport(options.logger)
  const send = createSendProblem(frontendOrigin)
  const answerPreflight = preflightAnswer(frontendOrigin)
  const problem = new Problem('overloaded')
  const backpressure = createBackpressure({
    // Node ends a connection that rests, and what came in unread would be lost with it.
    maxMs: UNREAD_SHARE * Math.min(PROBLEMS.overloaded.retryAfterSeconds * 1_000, keepAliveTimeoutMs),
  })
  const maxForReads = Math.ceil(maxUnderWay * READ_SHARE)
  let underWay = 0
  const end = () => {
    underWay--
  }

  function refuse(req: IncomingMessage, res: ServerResponse): void {
    // Refused itself, it would keep the page from reading why what it asks next is refused.
    if (answerPreflight(req, res)) return
    // Not before its end: until then Node reads on by itself, for the rest of the body.
    if (trustProxy === 0) res.once('close', () => setImmediate(backpressure.leaveUnread, req.socket))
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
    // Asked of every one, as it has to see where a turn begins.
    const isTooLate = isLate() || backpressure.isOverdue(req.socket)
    if (isTooLate || underWay >= (READ_METHODS.includes(req.method) ? maxForReads : maxUnderWay)) {
      refuse(req, res)
      return
    }
    underWay++
    res.once('close', end)
    app(req, res)
  }
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
