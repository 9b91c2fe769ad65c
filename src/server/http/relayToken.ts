import { createHash, timingSafeEqual } from 'node:crypto'
import type { RequestHandler } from 'express'
import { Problem } from './problems.js'

const BEARER = /^Bearer +([^\s]+) *$/i

/**
 * Tells whether an `Authorization` header shows the relay's shared token: `Bearer <token>` (RFC 6750).
 * Both sides are hashed first, so the comparison takes the same time whatever their lengths.
 */
export function relayTokenCheck(expected: string): (authorization: string | undefined) => boolean {
  const expectedHash = sha256(expected)
  return (authorization = '') => {
    const given = BEARER.exec(authorization)?.[1] ?? ''
    return timingSafeEqual(sha256(given), expectedHash)
  }
}

/** Guards the relay with its shared token, before the body is read. */
export function relayToken(expected: string): RequestHandler {
  const isShownIn = relayTokenCheck(expected)
  return (req, _res, next) => {
    if (!isShownIn(req.headers.authorization)) {
      throw new Problem('relay-unauthorized', { headers: { 'WWW-Authenticate': 'Bearer realm="relay"' } })
    }
    next()
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
