import type { Registry } from '@prometheus-io/client'
import type { Express } from 'express'
import { z } from 'zod'
import type { Rpc } from '../../chain/rpc.js'
import type { HealthChecks } from '../../protocol/api.js'
import type { Logger } from '../../service/logger.js'
import { createTimedValue } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import { errorHandler, methodNotAllowed, notFound } from '../http/errors.js'
import { createBareApp, requestId, requireHost, securityHeaders } from '../http/middleware.js'
import type { Metrics } from '../metrics.js'
import type { NarratorProgress } from '../narrator/poll.js'
import type { BuiltRelay } from '../relay/build.js'
import { createStateDocument } from '../store/documents.js'
import type { Engine } from '../store/engine.js'
import type { DoorUrl } from '../trigger/doors.js'
import type { EnclaveRuns } from '../trigger/enclaveRuns.js'
import {
  createReadiness,
  createRelayerView,
  createStoreView,
  type Inspection,
  inspectChain,
  inspectContracts,
  inspectEnclave,
  inspectEnclaveDoor,
  inspectLeases,
  inspectNarrator,
  inspectOrders,
  type Phase,
  type Readiness,
} from './checks.js'
import { addGauges } from './gauges.js'

/** However many callers ask on the public port, the checks run four times a minute at most. */
const SHARED_MS = 15_000

export function buildOps(deps: {
  readonly config: Config
  readonly rpc: Rpc
  readonly engine: Engine
  readonly relay: Pick<BuiltRelay, 'health' | 'load' | 'lease'>
  readonly enclaveRuns: Pick<EnclaveRuns, 'backlog'> & { readonly door: { readonly url: DoorUrl } }
  readonly progress: NarratorProgress
  readonly metrics: Metrics
  readonly phase: () => Phase
  readonly logger: Logger
}) {
  const { config, rpc, engine, relay, enclaveRuns, progress, metrics, logger } = deps
  const { gas, minBalance } = config.relay
  const relayer = createRelayerView(relay.health, gas)
  const document = createStateDocument({ engine, logger, id: 'readiness', schema: z.int() })
  const store = createStoreView(document, engine)
  const inspections = {
    chain: inspectChain(rpc, config.chain.chainId),
    contracts: inspectContracts(rpc, config.chain.contracts),
    relayer: relayer.inspect,
    enclave: inspectEnclaveOf(config.enclave.trigger, enclaveRuns.door.url),
    store: store.inspect,
    leases: inspectLeases(engine.leases, ['narrator', 'trigger', relay.lease]),
    orders: inspectOrders(enclaveRuns.backlog),
    narrator: inspectNarrator(progress),
  }
  const readiness = createReadiness(deps.phase, inspections, logger)
  const { load } = relay
  const { backlog } = enclaveRuns
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

function inspectEnclaveOf(trigger: Config['enclave']['trigger'], url: DoorUrl): Inspection {
  const door = inspectEnclaveDoor(url)
  if (trigger.kind === 'http') return door
  const program = inspectEnclave(trigger)
  return async () => (await program()) ?? (await door())
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
  app.use(notFound)
  app.use(errorHandler(logger))
  return app
}
