import type { Express } from 'express'
import type { Logger } from '../service/logger.js'
import type { Config } from './config/config.js'
import { requireRelayToken } from './http/auth.js'
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
import { checkFirst, routerOf } from './http/routes.js'
import { takeTurns } from './http/turns.js'
import { type IntakeRouterDeps, intakeRoutes } from './intake/router.js'
import { createDocsRouter } from './openapi/router.js'
import { type RelayRouterDeps, relayRoutes } from './relay/router.js'
import { type HealthDeps, statusReads } from './status/router.js'
import type { StatusViews } from './status/views.js'
import { type ReadTimeline, timelineRead } from './timeline/timeline.js'
import { createRunsRouter, type RunsRouterDeps } from './trigger/httpRunner.js'

export interface AppDeps {
  readonly http: Pick<Config['http'], 'frontendOrigin' | 'trustProxy'> & LimitOptions['http']
  readonly readers: LimitOptions['readers']
  readonly logger: Logger
  /** Called after each request. */
  readonly observe: HttpObserver
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  readonly relay: RelayRouterDeps
  readonly runs: RunsRouterDeps
  readonly health: HealthDeps
  readonly intake: IntakeRouterDeps
  readonly timeline: ReadTimeline
  readonly status: StatusViews
}

/** Every route of the API, behind the checks and limits that all of them share. Never listens. */
export function createApp(deps: AppDeps): Express {
  const { http, logger, intake, relay, status, health } = deps
  const app = createBareApp()
  app.set('trust proxy', http.trustProxy)

  app.use(
    takeTurns(),
    ...firstHandlers(logger, deps.observe),
    originCheck(http.frontendOrigin),
    refuseWhenStopping(deps.stopping),
    limitClients({ ...deps, authToken: relay.authToken }),
    conditionalReads,
  )

  // The busiest routes first, because Express tries them in this order.
  app.use(
    routerOf([
      ...intakeRoutes(intake),
      ...relayRoutes(relay),
      ...statusReads(status, health),
      timelineRead(deps.timeline),
    ]),
  )
  app.use('/relay', checkFirst(requireRelayToken(relay.authToken)))
  app.use(createRunsRouter(deps.runs))
  app.use(createDocsRouter())

  app.use(notFound)
  app.use(errorHandler(logger))
  return app
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
export function createEnclaveApp(
  deps: Pick<AppDeps, 'logger' | 'observe' | 'stopping' | 'relay' | 'runs'>,
): Express {
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
