import type { Express } from 'express'
import type { Logger } from '../service/logger.js'
import type { Config } from './config/config.js'
import { requireRelayToken } from './http/auth.js'
import { fairTurns } from './http/clients.js'
import { errorHandler, notFound } from './http/errors.js'
import { type LimitOptions, limitClients } from './http/limits.js'
import {
  conditionalReads,
  createBareApp,
  firstHandlers,
  type HttpObserver,
  originCheck,
  refuseWhenStopping,
} from './http/middleware.js'
import { checkFirst, type Route, routerOf } from './http/routes.js'
import { createDocsRouter } from './openapi/router.js'

interface CommonDeps {
  readonly logger: Logger
  readonly observe: HttpObserver
  readonly stopping: AbortSignal
  readonly authToken: string
  readonly routes: readonly Route[]
}

/** Every route of the API, behind the checks and limits that all of them share. Never listens. */
export function createApp(
  deps: CommonDeps & { readonly http: Config['http']; readonly readers: LimitOptions['readers'] },
): Express {
  const { http, logger, authToken } = deps
  const app = createBareApp(http.trustProxy)
  app.use(
    fairTurns(),
    ...firstHandlers(logger, deps.observe),
    originCheck(http.frontendOrigin),
    refuseWhenStopping(deps.stopping),
    limitClients(deps),
    conditionalReads,
    routerOf(deps.routes),
  )
  app.use('/relay', checkFirst(requireRelayToken(authToken)))
  return app.use(createDocsRouter(), notFound, errorHandler(logger))
}

/**
 * Connections at once: three times what the enclave opens. No cap for each client, because a proxy in front of several servers opens
 * them all.
 */
export const MAX_ENCLAVE_CONNECTIONS = 256

/**
 * The routes that the enclave calls, for a port of their own: no limit of clients applies there, so no stranger delays what the
 * enclave sends, whatever address the two share. Each request shows the relay's token before its body is read. Never listens.
 */
export function createEnclaveApp(deps: CommonDeps): Express {
  return createBareApp().use(
    ...firstHandlers(deps.logger, deps.observe),
    refuseWhenStopping(deps.stopping),
    checkFirst(requireRelayToken(deps.authToken)),
    routerOf(deps.routes),
    ...[notFound, errorHandler(deps.logger)],
  )
}
