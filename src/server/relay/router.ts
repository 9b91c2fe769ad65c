import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { isFinal, type Receipt, receiptSchema } from '../../protocol/api.js'
import { signedAuthorizationSchema } from '../../protocol/authorization.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { sendUntagged } from '../http/answers.js'
import { relayToken } from '../http/auth.js'
import { jsonBody, parseBody, parseParam } from '../http/body.js'
import { methodNotAllowed, Problem } from '../http/errors.js'
import type { AuthorizationVerifier } from './authorization.js'
import type { Followed, RelayDesk } from './desk.js'
import { withRelayProblems } from './problems.js'

export interface RelayRouterDeps {
  readonly authToken: string
  readonly verifier: AuthorizationVerifier
  readonly relay: Pick<RelayDesk, 'post' | 'find'>
  /** The longest that a caller waits for its receipt. */
  readonly waitMs: number
  /** Aborts when the server begins to stop: every wait ends then. */
  readonly stopping: AbortSignal
}

/**
 * Room for the largest authorization, with two blobs of 20,480 bytes in hex. It is a constant because an account whose write did
 * not fit could never trade again, and because only callers with the token get this far.
 */
const BODY_LIMIT_BYTES = 128 * 1_024

/** The enclave-facing routes under /relay. The token is checked first, before the body is read. */
export function createRelayRouter(deps: RelayRouterDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.use('/relay', relayToken(deps.authToken))
  router
    .route('/relay')
    .post(jsonBody(BODY_LIMIT_BYTES), postAuthorization(deps))
    .all(methodNotAllowed('POST'))
  router.route('/relay/:digest').get(getReceipt(deps.relay)).all(methodNotAllowed('GET'))
  return router
}

function postAuthorization({ verifier, relay, waitMs, stopping }: RelayRouterDeps): RequestHandler {
  const wait = createWaitingRoom(stopping)
  return async (req, res) => {
    const startedAt = performance.now()
    const authorization = parseBody(signedAuthorizationSchema, req.body)
    const job = await withRelayProblems(() => relay.post(verifier.verify(authorization)))
    const waitedMs = performance.now() - startedAt
    const receipt = await wait(job, waitPreference(req.get('Prefer'), waitMs) - waitedMs)
    res.status(isFinal(receipt) ? 200 : 202).location(`/relay/${receipt.digest}`)
    sendUntagged(res, z.encode(receiptSchema, receipt))
  }
}

function getReceipt(relay: RelayRouterDeps['relay']): RequestHandler {
  return async (req, res) => {
    const receipt = await relay.find(parseParam(bytes32Schema, 'digest', req.params.digest))
    if (receipt === undefined) throw new Problem('receipt-not-found')
    res.json(z.encode(receiptSchema, receipt))
  }
}

/**
 * Waits for a job's end, for `waitMs` at most, and not beyond the server's stop. Resolves with the receipt so far, and immediately
 * when the checks have used up the caller's time.
 */
type Wait = (job: Followed, waitMs: number) => Promise<Receipt>

/**
 * One listener to the stop serves all callers that wait: removing one of many listeners searches through all of them.
 *
 * @param stopping aborts when the server begins to stop
 */
function createWaitingRoom(stopping: AbortSignal): Wait {
  const waiting = new Set<() => void>()
  stopping.addEventListener('abort', () => {
    for (const leave of waiting) leave()
  })
  return async (job, waitMs) => {
    if (stopping.aborted || waitMs <= 0) return job.current()
    await new Promise<void>((resolve) => {
      const leave = () => {
        clearTimeout(timer)
        waiting.delete(leave)
        resolve()
      }
      const timer = setTimeout(leave, waitMs)
      waiting.add(leave)
      void job.end.then(leave)
    })
    return job.current()
  }
}

/** No caller waits for more than six digits of seconds. */
const WAIT = /^wait *= *(\d{1,6})$/i

/**
 * The longest wait that the caller wants: `Prefer: wait=<seconds>` (RFC 7240 §4.3); the server's own limit without one, or
 * where it is longer. Other preferences are ignored, as the RFC asks.
 *
 * @returns milliseconds
 */
export function waitPreference(header: string | undefined, limitMs: number): number {
  for (const preference of (header ?? '').split(',')) {
    const seconds = WAIT.exec(preference.trim())?.[1]
    // The first of several counts (RFC 7240 §2).
    if (seconds !== undefined) return Math.min(Number(seconds) * 1_000, limitMs)
  }
  return limitMs
}
