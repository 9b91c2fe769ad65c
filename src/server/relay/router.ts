import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { isFinal, receiptSchema } from '../../protocol/api.js'
import { signedAuthorizationSchema } from '../../protocol/authorization.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { jsonBody } from '../http/body.js'
import { methodNotAllowed } from '../http/errors.js'
import { sendUntagged } from '../http/preparedJson.js'
import { Problem } from '../http/problems.js'
import { relayToken } from '../http/relayToken.js'
import { parseBody, parseParam } from '../http/validate.js'
import type { AuthorizationVerifier } from './authorization.js'
import { waitPreference } from './prefer.js'
import type { Relay } from './relay.js'
import { createWaitingRoom } from './waitingRoom.js'

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

/** The enclave-facing routes, /relay and what is below it. The token is checked before anything else, whatever the body. */
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
    const course = await relay.post(verifier.verify(authorization))
    const waitedMs = performance.now() - startedAt
    const receipt = await wait(course, waitPreference(req.get('Prefer'), waitMs) - waitedMs)
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
