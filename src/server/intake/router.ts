import { Router } from 'express'
import { z } from 'zod'
import {
  type EnclaveKey,
  enclaveKeySchema,
  type OrderStatus,
  orderReceivedSchema,
  orderStatusSchema,
  type PolicyVersion,
  policyVersionSchema,
  postOrderSchema,
} from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { postPolicySchema } from '../../protocol/sealedRulebook.js'
import { jsonBody } from '../http/body.js'
import { clientOf } from '../http/client.js'
import { methodNotAllowed } from '../http/errors.js'
import { preparedJson, sendUntagged } from '../http/preparedJson.js'
import { Problem } from '../http/problems.js'
import { parseParam } from '../http/validate.js'
import { parseEnvelopeBody } from './envelopeBody.js'
import type { Orders } from './orders.js'
import type { Policy } from './policy.js'

export interface IntakeRouterDeps {
  readonly enclaveKey: () => Promise<EnclaveKey>
  readonly orders: Orders
  /** @throws Problem `order-not-found` */
  readonly orderStatus: (orderId: Hex) => Promise<OrderStatus>
  readonly policy: Policy
  /** Null when the institution is not registered. */
  readonly policyVersion: (orgId: Hex) => Promise<PolicyVersion | null>
  readonly bodyLimitBytes: number
}

/** The client-facing routes: the key to seal to, orders and rulebooks. */
export function createIntakeRouter(deps: IntakeRouterDeps): Router {
  const { enclaveKey, orders, orderStatus, policy, policyVersion } = deps
  const router = Router({ caseSensitive: true, strict: true })
  const readBody = jsonBody(deps.bodyLimitBytes)
  const sendEnclaveKey = preparedJson(enclaveKeySchema)
  const sendOrderStatus = preparedJson(orderStatusSchema)
  const sendPolicyVersion = preparedJson(policyVersionSchema)

  router
    .route('/enclave-key')
    .get(async (_req, res) => {
      sendEnclaveKey(res, await enclaveKey())
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/orders')
    .post(readBody, async (req, res) => {
      const received = await orders.receive(parseEnvelopeBody(postOrderSchema, req.body), clientOf(req.ip))
      res.status(202).location(`/orders/${received.orderId}`)
      sendUntagged(res, z.encode(orderReceivedSchema, received))
    })
    .all(methodNotAllowed('POST'))

  router
    .route('/orders/:orderId')
    .get(async (req, res) => {
      const orderId = parseParam(bytes32Schema, 'orderId', req.params.orderId)
      sendOrderStatus(res, await orderStatus(orderId))
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/policy')
    .post(readBody, async (req, res) => {
      const published = await policy.publish(parseEnvelopeBody(postPolicySchema, req.body), clientOf(req.ip))
      sendUntagged(res, z.encode(policyVersionSchema, published))
    })
    .all(methodNotAllowed('POST'))

  router
    .route('/policy/:orgId')
    .get(async (req, res) => {
      const orgId = parseParam(bytes32Schema, 'orgId', req.params.orgId)
      const version = await policyVersion(orgId)
      if (version === null) throw new Problem('institution-not-found')
      sendPolicyVersion(res, version)
    })
    .all(methodNotAllowed('GET'))

  return router
}
