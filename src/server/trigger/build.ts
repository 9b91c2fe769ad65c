import type { BrokerClock } from '../../broker/index.js'
import type { Contracts } from '../../chain/contracts.js'
import type { RpcProvider } from '../../chain/provider.js'
import type { Logger } from '../../service/logger.js'
import { stateOfPrivateFile } from '../../service/privateFile.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import type { Engine } from '../store/engine.js'
import type { ServeLease } from '../store/leaseHolder.js'
import { createOrderRecords, type OrderRecords } from '../store/orderRecords.js'
import { createReconcileStateStore } from '../store/reconcileState.js'
import { createRunRecords, type RunRecords } from '../store/runRecords.js'
import { createEnclaveRuns, type EnclaveRuns, type EnclaveRunsOptions } from './enclaveRuns.js'
import { createHttpRunner, createRemoteEnclave } from './httpRunner.js'
import { createOwnEnclave } from './ownEnclave.js'
import { createProcessRunner } from './processRunner.js'
import { createTriggerRateLimit, type TriggerRateLimit } from './rateLimit.js'
import type { RunsRouterDeps } from './router.js'
import type { EnclaveRunner, RunObserver } from './runner.js'

/** The trigger as the configuration wants it, and the route that it needs, if any. */
export type BuiltEnclaveRuns = EnclaveRuns & Pick<Place, 'router'>

export function buildEnclaveRuns(options: {
  readonly config: Config
  readonly engine: Engine
  readonly serveLease: ServeLease
  readonly contracts: Contracts
  readonly provider: RpcProvider
  readonly marketClock: { getClock(): Promise<BrokerClock> }
  readonly records: OrderRecords
  readonly escrowObserver: EnclaveRunsOptions['escrowObserver']
  readonly runObserver: RunObserver
  readonly logger: Logger
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
}): BuiltEnclaveRuns {
  const { config, contracts, provider, engine, logger, stopping, ...shared } = options
  const { maxRuns, triggerIntervalMs, orderRunTimeoutMs, policyRunTimeoutMs, reconcileIntervalMs } =
    config.enclave
  const runRecordsOn = (on: Engine) => createRunRecords({ engine: on, root: config.dataDir, logger })
  const runRecords = runRecordsOn(engine)
  const rateLimit = createTriggerRateLimit(triggerIntervalMs)
  const place = placeOf(config.enclave.trigger, {
    files: runRecords,
    isShared: engine.isShared,
    rateLimit,
    stopping,
    logger,
  })
  const runs = createEnclaveRuns({
    ...shared,
    termStores: (fenced) => ({
      records: createOrderRecords({ engine: fenced, logger }),
      runRecords: runRecordsOn(fenced),
      reconcileState: createReconcileStateStore({ engine: fenced, logger }),
    }),
    runRecords,
    runner: place.runner,
    timeouts: { order: orderRunTimeoutMs, policy: policyRunTimeoutMs, reconcile: orderRunTimeoutMs },
    maxRuns,
    rateLimit,
    unopened: config.unopened,
    reconcileIntervalMs,
    escrow: contracts.escrow,
    transport: provider.transport,
    logBlockRange: config.chain.logRange,
    stopping,
    logger,
  })
  return { ...runs, router: place.router, services: [...place.services, ...runs.services] }
}

/** Between two looks for results that other servers have received: an order's next run waits for as long. */
const RESULT_LOOK_MS = 500

/** Where the enclave runs, and what belongs to that. */
interface Place {
  readonly runner: EnclaveRunner
  readonly router: RunsRouterDeps | undefined
  readonly services: readonly Service[]
}

function placeOf(
  trigger: Config['enclave']['trigger'],
  deps: {
    readonly files: RunRecords
    readonly isShared: boolean
    readonly rateLimit: TriggerRateLimit
    readonly stopping: AbortSignal
    readonly logger: Logger
  },
): Place {
  if (trigger.kind === 'http') {
    const { url, secret } = trigger
    const lookEveryMs = deps.isShared ? RESULT_LOOK_MS : undefined
    const runner = createHttpRunner({ ...deps, lookEveryMs, remote: createRemoteEnclave({ url, secret }) })
    return { runner, router: { secret, results: runner }, services: [] }
  }
  const { command, envFile } = trigger
  const { logger } = deps
  // The system's search path, which every program gets, is not part of the server's configuration.
  const searchPath = process.env.PATH ?? ''
  const checks = [createEnvFileCheck({ path: envFile, logger }), oneUserWarning(logger)]
  if (trigger.kind === 'resident') {
    const { directory } = trigger
    const { url, secret, service } = createOwnEnclave({ directory, command, envFile, searchPath, logger })
    const runner = createHttpRunner({ ...deps, remote: createRemoteEnclave({ url, secret }) })
    return { runner, router: { secret, results: runner }, services: [...checks, service] }
  }
  const { resultDirectory } = deps.files
  return {
    runner: createProcessRunner({ command, envFile, searchPath, resultDirectory }),
    router: undefined,
    services: checks,
  }
}

/**
 * An attacker in the server process can read every file of its user, the enclave's file among them, and the memory of its
 * processes (docs/decisions/0258).
 */
function oneUserWarning(logger: Logger): Service {
  return {
    name: 'one user',
    async start() {
      logger.warn("the enclave runs as the server's user: for trials only")
    },
    async stop() {},
  }
}

/**
 * Warns at the start when the enclave would refuse its own configuration, without reading it: every run would end without
 * a result, and what the enclave says of it is discarded.
 */
function createEnvFileCheck({ path, logger }: { path: string; logger: Logger }): Service {
  return {
    name: 'enclave configuration',
    async start() {
      const state = await stateOfPrivateFile(path)
      if (state === 'unreadable') {
        logger.warn('ENCLAVE_ENV_FILE cannot be read: no enclave run can succeed')
      }
      if (state === 'shared') {
        logger.warn('ENCLAVE_ENV_FILE can be read by other users, chmod 600 it: no enclave run can succeed')
      }
    },
    async stop() {},
  }
}
