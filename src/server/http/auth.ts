import { isUtf8 } from 'node:buffer'
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Request } from 'express'
import { claimedRunMessage, isRunMessageSigned, type RunMessageKind } from '../../protocol/runMessage.js'
import type { Secret } from '../../service/secret.js'
import { Problem } from './errors.js'

const BEARER = /^Bearer +([^\s]+) *$/i

/**
 * Checks whether an `Authorization` header shows the relay's shared token: `Bearer <token>` (RFC 6750).
 * Both sides are hashed first, so the comparison lasts as long for any length.
 */
export function relayTokenCheck(expected: string): (authorization: string | undefined) => boolean {
  const expectedHash = hash('sha256', expected, 'buffer')
  return (authorization = '') => {
    const given = BEARER.exec(authorization)?.[1] ?? ''
    return timingSafeEqual(hash('sha256', given, 'buffer'), expectedHash)
  }
}

/** Guards the relay with its shared token. The check throws Problem `relay-unauthorized`. */
export function requireRelayToken(expected: string): (req: IncomingMessage) => void {
  const isShownIn = relayTokenCheck(expected)
  return (req) => {
    if (isShownIn(req.headers.authorization)) return
    throw new Problem('relay-unauthorized', { headers: { 'WWW-Authenticate': 'Bearer realm="relay"' } })
  }
}

/**
 * Lets in only messages that the other side of the path's run, `:runId`, has signed. A request without a fresh signature for this kind
 * and run ends before its body is read. A body that is not the signed one is never parsed. Either way the answer is 401, the same whether
 * or not there is such a run.
 */
export function signedRun(kind: RunMessageKind, secret: Secret) {
  return ({ headers, params }: Request) => {
    const claimed = claimedRunMessage(kind, headers)
    if (claimed === undefined || params.runId !== claimed.runId) throw unauthorized()
    return (raw: Buffer): void => {
      // Bytes that are no text cannot have been signed, because the signature covers a text.
      if (!isUtf8(raw) || !isRunMessageSigned(secret.reveal(), claimed, raw.toString('utf8')))
        throw unauthorized()
    }
  }
}

/** The same for every fault of a signature. */
function unauthorized(): Problem {
  return new Problem('run-unauthorized', { headers: { 'WWW-Authenticate': 'Webhook realm="runs"' } })
}
