import { createHash, timingSafeEqual } from 'node:crypto'
import type { RequestHandler } from 'express'
import { Problem } from './problems.js'

const BEARER = /^Bearer +([^\s]+) *$/i

/**
 * Guards the relay with its shared token, before the body is read: `Authorization: Bearer <token>` (RFC 6750).
 * Both sides are hashed first, so the comparison takes the same time whatever their lengths.
 */
export function relayToken(expected: string): RequestHandler {
  const expectedHash = sha256(expected)
  return (req, _res, next) => {
    const given = BEARER.exec(req.headers.authorization ?? '')?.[1] ?? ''
    if (!timingSafeEqual(sha256(given), expectedHash)) {
      throw new Problem('relay-unauthorized', { headers: { 'WWW-Authenticate': 'Bearer realm="relay"' } })
    }
    next()
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
