import { Router } from 'express'
import { methodNotAllowed } from '../http/errors.js'
import { type HealthDeps, healthHandler } from './health.js'

/** `GET /health`, a router of its own, as the per-client rate does not apply to it: a probe must never be refused. */
export function createHealthRouter(deps: HealthDeps): Router {
  const router = Router({ caseSensitive: true })
  router.route('/health').get(healthHandler(deps)).all(methodNotAllowed('GET'))
  return router
}
