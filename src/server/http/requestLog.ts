import type { Request, RequestHandler } from 'express'
import type { Logger } from '../logger.js'

/** One line per request, when its answer has gone out or its caller has gone away. */
export function requestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now()
    res.on('close', () => {
      logger.info('request', {
        requestId: res.locals.requestId,
        method: req.method,
        route: routeOf(req),
        status: res.statusCode,
        code: res.locals.problemCode,
        durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
        ...(res.writableFinished ? {} : { aborted: true }),
      })
    })
    next()
  }
}

/** The route's template. A raw URL is never logged: it carries identifiers, and whatever a caller puts there. */
function routeOf(req: Request): string {
  const path: unknown = req.route?.path
  return typeof path === 'string' ? req.baseUrl + path : 'unmatched'
}
