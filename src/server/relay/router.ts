import { Router } from 'express'
import { relayToken } from '../http/relayToken.js'

export interface RelayRouterDeps {
  readonly authToken: string
}

/** The enclave-facing routes, mounted at /relay. The token is checked before anything else, whatever the body. */
export function createRelayRouter(deps: RelayRouterDeps): Router {
  const router = Router({ caseSensitive: true })
  router.use(relayToken(deps.authToken))
  return router
}
