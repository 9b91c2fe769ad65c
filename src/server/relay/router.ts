import { setMaxListeners } from 'node:events'
import { type RequestHandler, type Response, Router } from 'express'
import { z } from 'zod'
import { type Receipt, receiptSchema } from '../../protocol/api.js'
import { signedAuthorizationSchema } from '../../protocol/authorization.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { jsonBody } from '../http/body.js'
import { methodNotAllowed } from '../http/errors.js'
import { Problem } from '../http/problems.js'
import { relayToken } from '../http/relayToken.js'
import { parseBody, parseParam } from '../http/validate.js'
import type { AuthorizationVerifier } from './authorization.js'
import type { Course } from './course.js'
import { waitPreference } from './prefer.js'
import type { Relay } from './relay.js'

export interface RelayRouterDeps {
  readonly authToken: string
  readonly verifier: AuthorizationVerifier
  readonly relay: Pick<Relay, 'post' | 'find'>
  /** How long a caller is kept waiting at most. */
  readonly waitMs: number
  /** Aborts when the server begins to stop: nobody is kept waiting then. */
  readonly stopping: AbortSignal
}

/**
 * Room for the largest authorization, two blobs of 20,480 bytes in hex, and some more. Not to be configured: an account
 * whose write did not fit would be stuck for good, and only who has the token is read at all.
 */
const BODY_LIMIT_BYTES = 128 * 1_024

/** The enclave-facing routes, mounted at /relay. The token is checked before anything else, whatever the body. */
export function createRelayRouter(deps: RelayRouterDeps): Router {
  const router = Router({ caseSensitive: true })
  // Every caller that waits listens to it.
  setMaxListeners(0, deps.stopping)
  router.use(relayToken(deps.authToken))
  router.route('/').post(jsonBody(BODY_LIMIT_BYTES), postAuthorization(deps)).all(methodNotAllowed('POST'))
  router.route('/:digest').get(getReceipt(deps.relay)).all(methodNotAllowed('GET'))
  return router
}

function postAuthorization({ verifier, relay, waitMs, stopping }: RelayRouterDeps): RequestHandler {
  return async (req, res) => {
    const authorization = parseBody(signedAuthorizationSchema, req.body)
    const course = await relay.post(verifier.verify(authorization))
    const receipt = await receiptWithin(course, waitPreference(req.get('Prefer'), waitMs), stopping)
    const final = receipt.status === 'confirmed' || receipt.status === 'failed'
    res.status(final ? 200 : 202).location(`/relay/${receipt.digest}`)
    send(res, receipt)
  }
}

function getReceipt(relay: RelayRouterDeps['relay']): RequestHandler {
  return async (req, res) => {
    const receipt = await relay.find(parseParam(bytes32Schema, 'digest', req.params.digest))
    if (receipt === undefined) throw new Problem('receipt-not-found')
    send(res, receipt)
  }
}

/** The final receipt, or the one so far when the time is up first. */
async function receiptWithin(course: Course, waitMs: number, stopping: AbortSignal): Promise<Receipt> {
  const over = new AbortController()
  const timeUp = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs)
    over.signal.addEventListener('abort', () => clearTimeout(timer))
    stopping.addEventListener('abort', () => resolve(), { signal: over.signal })
    if (stopping.aborted) resolve()
  })
  await Promise.race([course.end, timeUp])
  over.abort()
  return course.current()
}

function send(res: Response, receipt: Receipt): void {
  res.json(z.encode(receiptSchema, receipt))
}
