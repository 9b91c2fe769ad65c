import type { Registry } from '@prometheus-io/client'
import express, { type Express } from 'express'
import type { Logger } from '../../service/logger.js'
import { errorHandler, methodNotAllowed, notFound } from '../http/errors.js'
import { requireHost } from '../http/host.js'
import { requestId } from '../http/requestId.js'
import { securityHeaders } from '../http/securityHeaders.js'
import type { ReadinessReport } from './readiness.js'

export interface OpsAppDeps {
  readonly readiness: () => Promise<ReadinessReport>
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>
  readonly logger: Logger
}

/** For a probe that asks when to look again: the checks are made anew every few seconds. */
const RETRY_AFTER_SECONDS = 5

/**
 * What the operator asks, on a port of its own. Nothing in it is a secret or names anybody, but it is nobody else's
 * business, and asking is not limited. Requests are not logged: probes come every few seconds. Never listens.
 */
export function createOpsApp({ readiness, registry, logger }: OpsAppDeps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', false)
  app.use(requestId(), securityHeaders(), requireHost())
  app
    .route('/livez')
    .get((_req, res) => {
      res.json({ status: 'alive' })
    })
    .all(methodNotAllowed('GET'))
  app
    .route('/readyz')
    .get(async (_req, res) => {
      const report = await readiness()
      if (report.status === 'unhealthy') res.status(503).set('Retry-After', String(RETRY_AFTER_SECONDS))
      res.json(report)
    })
    .all(methodNotAllowed('GET'))
  app
    .route('/metrics')
    .get(async (_req, res) => {
      res.type(registry.contentType).send(await registry.metrics())
    })
    .all(methodNotAllowed('GET'))
  app.use(notFound)
  app.use(errorHandler(logger))
  return app
}
