import type { Registry } from '@prometheus-io/client'
import type { Express } from 'express'
import type { HealthChecks } from '../../protocol/api.js'
import type { Logger } from '../../service/logger.js'
import { createTimedValue } from '../../service/waiting.js'
import { errorHandler, methodNotAllowed, notFound } from '../http/errors.js'
import { createBareApp, requestId, requireHost, securityHeaders } from '../http/middleware.js'
import type { Metrics } from '../metrics.js'
import type { BuiltRelay } from '../relay/build.js'
import type { EnclaveRuns } from '../trigger/enclaveRuns.js'
import { createInspections, createReadiness, type Phase, type Readiness } from './checks.js'
import { addGauges } from './gauges.js'

/** However many callers ask on the public port, the checks run four times a minute at most. */
const SHARED_MS = 15_000

export function buildOps(
  deps: Parameters<typeof createInspections>[0] & {
    readonly relay: Pick<BuiltRelay, 'load'>
    readonly enclaveRuns: Pick<EnclaveRuns, 'backlog'>
    readonly metrics: Metrics
    readonly phase: () => Phase
  },
) {
  const { config, rpc, relay, progress, metrics, logger } = deps
  const { gas, minBalance } = config.relay
  const { relayer, store, inspections } = createInspections(deps)
  const readiness = createReadiness(deps.phase, inspections, logger)
  const { load } = relay
  const { backlog } = deps.enclaveRuns
  addGauges(metrics, { readiness, relayer, store, backlog, load, rpc, progress, minBalance, gas })
  return {
    app: createOpsApp(readiness, metrics.registry, logger),
    /** The answer of `GET /health/checks`: one inspection for all callers, and the very same object until the next. Never rejects. */
    healthChecks: createTimedValue(SHARED_MS, async (): Promise<HealthChecks> => {
      const { status, checks } = await readiness()
      const { gasRemaining, reserveRemaining } = load()
      const account = relayer.account()
      return {
        asOf: new Date(Date.now()).toISOString(),
        status,
        checks: Object.entries(checks).map(([name, check]) => ({ name, ...check })),
        relayer: account === undefined ? null : { address: account.address, balance: account.balance },
        minBalance,
        gas: { limit: gas.perDay, remaining: gasRemaining, reserve: gas.reserve, reserveRemaining },
      }
    }),
  }
}

/** When a probe should ask again: the checks run anew every few seconds. */
const RETRY_AFTER_SECONDS = 5

/**
 * The operator's endpoints, for a port of their own: they hold no secrets and name no client, but they have no rate limit.
 * Requests are not logged because probes come every few seconds. Never listens.
 */
export function createOpsApp(
  readiness: Readiness,
  registry: Pick<Registry, 'metrics' | 'contentType'>,
  logger: Logger,
): Express {
  const app = createBareApp()
  app.disable('etag')
  app.use(requestId(), securityHeaders(), requireHost)
  app.get('/livez', (_req, res) => {
    res.json({ status: 'alive' })
  })
  app.get('/readyz', async (_req, res) => {
    const report = await readiness()
    if (report.status === 'unhealthy') res.status(503).set('Retry-After', String(RETRY_AFTER_SECONDS))
    res.json(report)
  })
  app.get('/metrics', async (_req, res) => {
    res.type(registry.contentType).send(await registry.metrics())
  })
  app.all(['/livez', '/readyz', '/metrics'], methodNotAllowed('GET'))
  return app.use(notFound, errorHandler(logger))
}
