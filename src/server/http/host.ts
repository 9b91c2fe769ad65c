import type { RequestHandler } from 'express'
import { Problem } from './problems.js'

/** Refuses an HTTP/1.1 request without `Host`, as RFC 9112, 3.2 wants it. Node would do so itself, without a body. */
export function requireHost(): RequestHandler {
  return (req, _res, next) => {
    if (req.httpVersion === '1.1' && req.headers.host === undefined) {
      throw new Problem('malformed-request', { detail: 'The Host header is missing.' })
    }
    next()
  }
}
