import { Router } from 'express'
import { addressSchema } from '../../protocol/address.js'
import {
  complianceSchema,
  institutionSchema,
  marketClockSchema,
  marketSchema,
  walletSchema,
} from '../../protocol/api.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { methodNotAllowed } from '../http/errors.js'
import { preparedJson } from '../http/preparedJson.js'
import { Problem } from '../http/problems.js'
import { parseParam } from '../http/validate.js'
import { type HealthDeps, healthHandler } from './health.js'
import type { StatusViews } from './views.js'

/** `/health` as a page asks for it; `createProbeAnswer` answers plain probes before Express. */
export function createHealthRouter(deps: HealthDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.route('/health').get(healthHandler(deps)).all(methodNotAllowed('GET'))
  return router
}

/** The read-only routes: wallet screen, institution, compliance flags, market and its clock. */
export function createStatusRouter(views: StatusViews): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const sendWallet = preparedJson(walletSchema)
  const sendInstitution = preparedJson(institutionSchema)
  const sendCompliance = preparedJson(complianceSchema)
  const sendMarket = preparedJson(marketSchema)
  const sendMarketClock = preparedJson(marketClockSchema)

  router
    .route('/wallet/:address')
    .get(async (req, res) => {
      const address = parseParam(addressSchema, 'address', req.params.address)
      sendWallet(res, await views.wallet(address))
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/org/:orgId')
    .get(async (req, res) => {
      const institution = await views.institution(parseParam(bytes32Schema, 'orgId', req.params.orgId))
      if (institution === null) throw new Problem('institution-not-found')
      sendInstitution(res, institution)
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/compliance/:address')
    .get(async (req, res) => {
      const address = parseParam(addressSchema, 'address', req.params.address)
      sendCompliance(res, await views.compliance(address))
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/market')
    .get(async (_req, res) => {
      sendMarket(res, await views.market())
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/market/clock')
    .get(async (_req, res) => {
      sendMarketClock(res, await views.marketClock())
    })
    .all(methodNotAllowed('GET'))

  return router
}
