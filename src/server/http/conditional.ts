import type { RequestHandler } from 'express'

/**
 * Lets `If-None-Match` alone decide whether a read is answered 304.
 *
 * A page's `fetch` adds `Cache-Control: no-cache` to every request that carries `If-None-Match` (Fetch Standard,
 * "HTTP-network-or-cache fetch"), and Express then sends the whole answer again. The directive is for caches on the
 * way (RFC 9111, 5.2.1.4): an origin answers a precondition whatever it says (RFC 9110, 13.1.2).
 */
export function conditionalReads(): RequestHandler {
  return (req, _res, next) => {
    delete req.headers['cache-control']
    next()
  }
}
