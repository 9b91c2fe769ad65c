import type { Express } from 'express'
import type { AppDeps } from './app.js'
import { requireRelayToken } from './http/auth.js'
import { errorHandler, notFound } from './http/errors.js'
import { createBareApp, firstHandlers, refuseWhenStopping } from './http/middleware.js'
import { checkFirst, routerOf } from './http/routes.js'
import { relayRoutes } from './relay/router.js'
import { createRunsRouter } from './trigger/router.js'

type EnclaveAppDeps = Pick<AppDeps, 'logger' | 'observe' | 'stopping' | 'relay' | 'runs'>

/**
 * Connections at once: three times what the enclave opens. No cap for each client, because a proxy in front of several servers opens
 * them all.
 */
export const MAX_ENCLAVE_CONNECTIONS = 256

/**
 * The routes that the enclave calls, for a port of their own: no limit of clients applies there, so no stranger delays what the
 * enclave sends, whatever address the two share. Each request shows the relay's token before its body is read. Never listens.
 */
export function createEnclaveApp(deps: EnclaveAppDeps): Express {
  const { logger, relay } = deps
  const app = createBareApp()
  app.use(
    ...firstHandlers(logger, deps.observe),
    refuseWhenStopping(deps.stopping),
    checkFirst(requireRelayToken(relay.authToken)),
  )
  app.use(routerOf(relayRoutes(relay)))
  app.use(createRunsRouter(deps.runs))
  app.use(notFound)
  app.use(errorHandler(logger))
  return app
}
