import type { Express } from 'express'
import type { Logger } from '../service/logger.js'
import type { Config } from './config/config.js'
import { requireRelayToken } from './http/auth.js'
import { errorHandler, notFound } from './http/errors.js'
import { checkFirst, createFastRouter, type FastRoute } from './http/fastRoutes.js'
import {
  conditionalReads,
  createBareApp,
  firstHandlers,
  type HttpObserver,
  oneLayer,
  originCheck,
  refuseWhenStopping,
} from './http/middleware.js'
import { createIntakeRouter, type IntakeRouterDeps, intakeRoutes } from './intake/router.js'
import { createDocsRouter } from './openapi/router.js'
import { type RelayRouterDeps, relayRoutes } from './relay/router.js'
import { type HealthDeps, statusReads } from './status/router.js'
import type { StatusViews } from './status/views.js'
import { createTimelineRouter, type ReadTimeline } from './timeline/timeline.js'
import { createRunsRouter, type RunsRouterDeps } from './trigger/router.js'

export interface AppDeps {
  readonly http: Pick<Config['http'], 'frontendOrigin' | 'trustProxy'>
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

/** The busy routes. */
export function fastRoutesOf({ intake, relay, status, health }: AppDeps): FastRoute[] {
  return [...intakeRoutes(intake), ...relayRoutes(relay), ...statusReads(status, health)]
}

/** Every route of the API, behind the checks that all of them share. `answerFast` and `shedLoad` run before it. Never listens. */
export function createApp(deps: AppDeps, routes: readonly FastRoute[] = fastRoutesOf(deps)): Express {
  const { http, logger } = deps
  const app = createBareApp()
  app.set('trust proxy', http.trustProxy)

  app.use(
    oneLayer([
      ...firstHandlers(logger, deps.observe),
      originCheck(http.frontendOrigin),
      refuseWhenStopping(deps.stopping),
      conditionalReads(),
    ]),
  )

  // The busiest router first, because Express tries them in this order.
  app.use(createFastRouter(routes))
  app.use('/relay', checkFirst(requireRelayToken(deps.relay.authToken)))
  app.use(createIntakeRouter(deps.intake))
  app.use(createRunsRouter(deps.runs))
  app.use(createTimelineRouter(deps.timeline))
  app.use(createDocsRouter(deps.health.version))

  app.use(notFound)
  app.use(errorHandler(logger))
  return app
}
