import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request, RequestHandler } from 'express'
import type { Logger } from '../../service/logger.js'

/** A request whose answer has gone out, or whose caller has gone away. */
export interface FinishedRequest {
  readonly method: string
  /** The route's template. */
  readonly route: string
  readonly status: number
  /** Of a failure. */
  readonly code: string | undefined
  readonly durationMs: number
  /** The caller hung up before the answer was out. */
  readonly isAborted: boolean
}

export type HttpObserver = (request: FinishedRequest) => void

/** What the log says of a request besides its method, its status and its duration. */
interface Logged {
  readonly requestId: string
  /** The route's template. */
  readonly route: string
  /** Of a failure. */
  readonly code: string | undefined
}

/**
 * Logs one line per request, when its answer has gone out or its caller has gone away, and reports it to the metrics.
 *
 * @returns a function to be called as a request arrives; `logged` is asked when it has ended
 */
export function createRequestReport(
  logger: Logger,
  observe?: HttpObserver,
): (req: IncomingMessage, res: ServerResponse, logged: () => Logged) => void {
  return (req, res, logged) => {
    const startedAt = performance.now()
    res.on('close', () => {
      const durationMs = performance.now() - startedAt
      const { method = '' } = req
      const { requestId, route, code } = logged()
      const status = res.statusCode
      const isAborted = !res.writableFinished
      observe?.({ method, route, status, code, durationMs, isAborted })
      logger.info('request', {
        requestId,
        method,
        route,
        status,
        code,
        durationMs: Math.round(durationMs * 10) / 10,
        ...(isAborted ? { aborted: true } : {}),
      })
    })
  }
}

/** Reports each request that Express sees. */
export function requestLog(logger: Logger, observe?: HttpObserver): RequestHandler {
  const report = createRequestReport(logger, observe)
  return (req, res, next) => {
    report(req, res, () => ({
      requestId: res.locals.requestId,
      route: routeOf(req),
      code: res.locals.problemCode,
    }))
    next()
  }
}

/**
 * The route's template, which has the whole path as no router is mounted below one: where such a router refuses, Express has
 * forgotten the path of it by now. A raw URL is never logged: it carries identifiers, and whatever a caller puts there.
 */
function routeOf(req: Request): string {
  const path: unknown = req.route?.path
  return typeof path === 'string' ? path : 'unmatched'
}
