import { Router } from 'express'
import { z } from 'zod'
import { type EnclaveKey, enclaveKeySchema } from '../../protocol/api.js'
import { methodNotAllowed } from '../http/errors.js'

export interface IntakeRouterDeps {
  readonly enclaveKey: () => Promise<EnclaveKey>
}

/** The client-facing routes: the key to seal to. */
export function createIntakeRouter(deps: IntakeRouterDeps): Router {
  const router = Router({ caseSensitive: true })

  router
    .route('/enclave-key')
    .get(async (_req, res) => {
      res.json(z.encode(enclaveKeySchema, await deps.enclaveKey()))
    })
    .all(methodNotAllowed('GET'))

  return router
}
