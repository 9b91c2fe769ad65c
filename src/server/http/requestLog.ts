import type { Request, RequestHandler } from 'express'
import type { Logger } from '../logger.js'
import type { HttpObserver } from '../metrics/httpMetrics.js'

/** One line per request, when its answer has gone out or its caller has gone away; and a word to the metrics. */
export function requestLog(logger: Logger, observe?: HttpObserver): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now()
    res.on('close', () => {
      const durationMs = performance.now() - startedAt
      const { method } = req
      const route = routeOf(req)
      const status = res.statusCode
      const code = res.locals.problemCode
      const isAborted = !res.writableFinished
      observe?.({ method, route, status, code, durationMs, isAborted })
      logger.info('request', {
        requestId: res.locals.requestId,
        method,
        route,
        status,
        code,
        durationMs: Math.round(durationMs * 10) / 10,
        ...(isAborted ? { aborted: true } : {}),
      })
    })
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
