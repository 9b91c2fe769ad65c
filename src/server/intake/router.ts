import { Router } from 'express'
import { z } from 'zod'
import {
  type EnclaveKey,
  enclaveKeySchema,
  orderReceivedSchema,
  orderStatusSchema,
  policyVersionSchema,
} from '../../protocol/api.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { jsonBody } from '../http/body.js'
import { methodNotAllowed } from '../http/errors.js'
import { sendUntagged } from '../http/preparedJson.js'
import { parseParam } from '../http/validate.js'
import { receivedOrderSchema, receivedPolicySchema } from './bodies.js'
import { parseEnvelopeBody } from './envelopeBody.js'
import type { Orders } from './orders.js'
import type { Policy } from './policy.js'

export interface IntakeRouterDeps {
  readonly enclaveKey: () => Promise<EnclaveKey>
  readonly orders: Orders
  readonly policy: Policy
  readonly bodyLimitBytes: number
}

/** The client-facing routes: the key to seal to, orders and rulebooks. */
export function createIntakeRouter(deps: IntakeRouterDeps): Router {
  const { enclaveKey, orders, policy } = deps
  const router = Router({ caseSensitive: true })
  const readBody = jsonBody(deps.bodyLimitBytes)

  router
    .route('/enclave-key')
    .get(async (_req, res) => {
      res.json(z.encode(enclaveKeySchema, await enclaveKey()))
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/orders')
    .post(readBody, async (req, res) => {
      const received = await orders.receive(parseEnvelopeBody(receivedOrderSchema, req.body))
      res.status(202).location(`/orders/${received.orderId}`)
      sendUntagged(res, z.encode(orderReceivedSchema, received))
    })
    .all(methodNotAllowed('POST'))

  router
    .route('/orders/:orderId')
    .get(async (req, res) => {
      const orderId = parseParam(bytes32Schema, 'orderId', req.params.orderId)
      res.json(z.encode(orderStatusSchema, await orders.status(orderId)))
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/policy')
    .post(readBody, async (req, res) => {
      const published = await policy.publish(parseEnvelopeBody(receivedPolicySchema, req.body))
      sendUntagged(res, z.encode(policyVersionSchema, published))
    })
    .all(methodNotAllowed('POST'))

  router
    .route('/policy/:orgId')
    .get(async (req, res) => {
      const orgId = parseParam(bytes32Schema, 'orgId', req.params.orgId)
      res.json(z.encode(policyVersionSchema, await policy.version(orgId)))
    })
    .all(methodNotAllowed('GET'))

  return router
}
