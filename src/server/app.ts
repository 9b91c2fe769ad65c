import express, { type Express } from 'express'
import type { Logger } from '../service/logger.js'
import type { Config } from './config.js'
import { conditionalReads } from './http/conditional.js'
import { errorHandler, notFound } from './http/errors.js'
import { requireHost } from './http/host.js'
import { oneLayer } from './http/oneLayer.js'
import { originCheck } from './http/origin.js'
import { requestId } from './http/requestId.js'
import type { HttpObserver } from './http/requestLog.js'
import { requestLog } from './http/requestLog.js'
import { securityHeaders } from './http/securityHeaders.js'
import { refuseWhenStopping } from './http/shutdown.js'
import { createIntakeRouter, type IntakeRouterDeps } from './intake/router.js'
import { createDocsRouter } from './openapi/router.js'
import { createRelayRouter, type RelayRouterDeps } from './relay/router.js'
import type { HealthDeps } from './status/health.js'
import { createHealthRouter, createStatusRouter } from './status/router.js'
import type { StatusViews } from './status/views.js'
import { createTimelineRouter } from './timeline/router.js'
import type { ReadTimeline } from './timeline/timeline.js'
import { createRunsRouter, type RunsRouterDeps } from './trigger/router.js'

export interface AppDeps {
  readonly http: Pick<Config['http'], 'frontendOrigin' | 'trustProxy'>
  readonly logger: Logger
  /** Is told of each request. */
  readonly observe: HttpObserver
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  readonly relay: RelayRouterDeps
  /** For a remote enclave's results; undefined when there is none. */
  readonly runs: RunsRouterDeps | undefined
  readonly health: HealthDeps
  readonly intake: IntakeRouterDeps
  readonly timeline: ReadTimeline
  readonly status: StatusViews
}

/** Every route of the API behind what all of them check first. `shedLoad` stands before it. Never listens. */
export function createApp(deps: AppDeps): Express {
  const { http, logger } = deps
  const app = express()
  app.disable('x-powered-by')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  // No route has a query.
  app.set('query parser', false)
  app.set('trust proxy', http.trustProxy)

  app.use(
    oneLayer([
      requestId(),
      requestLog(logger, deps.observe),
      ...securityHeaders(),
      requireHost(),
      originCheck(http.frontendOrigin),
      refuseWhenStopping(deps.stopping),
      conditionalReads(),
    ]),
  )

  // The busiest come first, as each request is offered to one after the other.
  app.use(createIntakeRouter(deps.intake))
  app.use(createStatusRouter(deps.status))
  app.use(createRelayRouter(deps.relay))
  if (deps.runs !== undefined) app.use(createRunsRouter(deps.runs))
  app.use(createHealthRouter(deps.health))
  app.use(createTimelineRouter(deps.timeline))
  app.use(createDocsRouter(deps.health.version))

  app.use(notFound)
  app.use(errorHandler(logger))
  return app
}
