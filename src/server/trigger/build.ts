import type { BrokerClock } from '../../broker/index.js'
import type { Contracts } from '../../chain/contracts.js'
import type { RpcProvider } from '../../chain/provider.js'
import type { Config } from '../config.js'
import type { Logger } from '../logger.js'
import type { RunObserver } from '../metrics/runMetrics.js'
import type { AtomicFiles } from '../store/atomicFiles.js'
import type { OrderRecords } from '../store/orderRecords.js'
import { createEnclaveRuns, type EnclaveRuns, type EnclaveRunsOptions } from './enclaveRuns.js'
import { createEnvFileCheck } from './envFileCheck.js'
import { createProcessRunner } from './runs/processRunner.js'

/** The trigger as the configuration wants it: enclave runs as processes of this machine. */
export function buildEnclaveRuns(options: {
  readonly config: Config
  readonly files: AtomicFiles
  readonly contracts: Contracts
  readonly provider: RpcProvider
  readonly marketClock: { getClock(): Promise<BrokerClock> }
  readonly records: OrderRecords
  readonly escrowObserver: EnclaveRunsOptions['escrowObserver']
  readonly relayedDigests: EnclaveRunsOptions['relayedDigests']
  readonly runObserver: RunObserver
  readonly logger: Logger
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
}): EnclaveRuns {
  const { config, contracts, provider, ...shared } = options
  const { command, envFile, maxRuns, orderRunTimeoutMs, policyRunTimeoutMs, reconcileIntervalMs } =
    config.enclave
  const runs = createEnclaveRuns({
    ...shared,
    root: config.dataDir,
    // The system's search path, which every program gets, is not part of the server's configuration.
    runner: createProcessRunner({ command, envFile, searchPath: process.env.PATH ?? '' }),
    timeouts: { order: orderRunTimeoutMs, policy: policyRunTimeoutMs, reconcile: orderRunTimeoutMs },
    maxRuns,
    unopened: config.unopened,
    reconcileIntervalMs,
    escrow: contracts.escrow,
    transport: provider.transport,
    logBlockRange: config.chain.logRange,
  })
  const check = createEnvFileCheck({ path: envFile, logger: options.logger })
  return { ...runs, services: [check, ...runs.services] }
}
