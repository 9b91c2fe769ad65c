import express, { type Express } from 'express'
import type { Logger } from '../service/logger.js'
import type { Config } from './config/config.js'
import { errorHandler, notFound } from './http/errors.js'
import {
  conditionalReads,
  type HttpObserver,
  oneLayer,
  refuseWhenStopping,
  requestId,
  requestLog,
  requireHost,
  securityHeaders,
} from './http/middleware.js'
import { originCheck } from './http/origin.js'
import { createReadsRouter, type Read } from './http/reads.js'
import { createIntakeRouter, type IntakeRouterDeps, intakeReads } from './intake/router.js'
import { createDocsRouter } from './openapi/router.js'
import { createRelayRouter, type RelayRouterDeps } from './relay/router.js'
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
  /** For results of an enclave that is reached by jobs; undefined where each run is a process. */
  readonly runs: RunsRouterDeps | undefined
  readonly health: HealthDeps
  readonly intake: IntakeRouterDeps
  readonly timeline: ReadTimeline
  readonly status: StatusViews
}

/** The routes that only read. */
export function readsOf({ intake, status, health }: AppDeps): Read[] {
  return [...intakeReads(intake), ...statusReads(status, health)]
}

/** Every route of the API, behind the checks that all of them share. `answerReads` and `shedLoad` run before it. Never listens. */
export function createApp(deps: AppDeps, reads: readonly Read[] = readsOf(deps)): Express {
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

  // The busiest router first, because Express tries them in this order.
  app.use(createIntakeRouter(deps.intake))
  app.use(createReadsRouter(reads))
  app.use(createRelayRouter(deps.relay))
  if (deps.runs !== undefined) app.use(createRunsRouter(deps.runs))
  app.use(createTimelineRouter(deps.timeline))
  app.use(createDocsRouter(deps.health.version))

  app.use(notFound)
  app.use(errorHandler(logger))
  return app
}
