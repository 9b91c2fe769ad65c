import { isUtf8 } from 'node:buffer'
import type { RequestHandler } from 'express'
import {
  type ClaimedRunMessage,
  claimedRunMessage,
  isRunMessageSigned,
  type RunMessageKind,
} from '../../protocol/runMessage.js'
import type { Secret } from '../secret.js'
import { jsonBody } from './body.js'
import { Problem } from './problems.js'

interface SignedRunOptions {
  readonly kind: RunMessageKind
  readonly secret: Secret
  readonly limitBytes: number
  /** What the path says of the run that a message must be about; undefined: anything. */
  readonly runIdOf?: (params: Readonly<Record<string, string | string[]>>) => unknown
}

/**
 * Lets in only what the other side of a run has signed, and reads its JSON body into `req.body`. A request without a
 * fresh signature for this kind and run ends before its body is read, one whose body is another than the signed one
 * before it is parsed: 401 either way, the same whether or not there is such a run.
 */
export function signedRun({ kind, secret, limitBytes, runIdOf }: SignedRunOptions): RequestHandler {
  const claims = new WeakMap<object, ClaimedRunMessage>()
  const readBody = jsonBody(limitBytes, (raw, req) => {
    const claimed = claims.get(req)
    // Bytes that are no text can't have been signed: the signature is one of a text.
    const isSigned =
      claimed !== undefined &&
      isUtf8(raw) &&
      isRunMessageSigned(secret.reveal(), claimed, raw.toString('utf8'))
    if (!isSigned) throw unauthorized()
  })
  return (req, res, next) => {
    const claimed = claimedRunMessage(kind, req.headers)
    if (claimed === undefined) throw unauthorized()
    if (runIdOf !== undefined && runIdOf(req.params) !== claimed.runId) throw unauthorized()
    claims.set(req, claimed)
    readBody(req, res, next)
  }
}

/** The same for every fault of a signature. */
export function unauthorized(): Problem {
  return new Problem('run-unauthorized', { headers: { 'WWW-Authenticate': 'Webhook realm="runs"' } })
}
