import { join } from 'node:path'
import type { Express } from 'express'
import { z } from 'zod'
import type { RpcProvider } from '../../chain/provider.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config.js'
import type { Metrics } from '../metrics/metrics.js'
import type { NarratorProgress } from '../narrator/progress.js'
import type { BuiltRelay } from '../relay/build.js'
import { createStateDocument } from '../store/documents.js'
import type { Engine } from '../store/engine.js'
import type { EnclaveRuns } from '../trigger/enclaveRuns.js'
import { createOpsApp } from './app.js'
import { type Check, createCheck, type Look } from './check.js'
import { chainLook } from './checks/chain.js'
import { contractsLook } from './checks/contracts.js'
import { enclaveHostLook } from './checks/enclaveHost.js'
import { enclaveLook } from './checks/enclaveProgram.js'
import { leasesLook } from './checks/leases.js'
import { narratorLook } from './checks/narrator.js'
import { createRelayerView, type RelayerView } from './checks/relayer.js'
import { createStoreView, type StoreView } from './checks/store.js'
import { addGauges } from './gauges.js'
import { createReadiness } from './readiness.js'

/** Where the server is between its start and its end. */
export type Phase = 'starting' | 'running' | 'stopping'

export interface OpsDeps {
  readonly config: Config
  readonly provider: RpcProvider
  readonly engine: Engine
  readonly relay: Pick<BuiltRelay, 'health' | 'load' | 'leases'>
  readonly enclaveRuns: Pick<EnclaveRuns, 'backlog'>
  readonly progress: NarratorProgress
  readonly metrics: Metrics
  readonly phase: () => Phase
  readonly logger: Logger
}

/** Wires the operator's endpoints. Starts nothing and asks nobody. */
export function buildOps(deps: OpsDeps): Express {
  const { config, provider, engine, relay, enclaveRuns, progress, metrics, logger } = deps
  const { gas, minBalance } = config.relay
  const relayer = createRelayerView({ health: relay.health, gas })
  const document = createStateDocument({ engine, logger, id: 'readiness', schema: z.int() })
  const store = createStoreView({ document, engine })
  const checks = createChecks(deps, { relayer, store })
  const readiness = createReadiness(checks)
  const { transport } = provider
  const { balances } = relayer
  const { backlog } = enclaveRuns
  const { load } = relay
  const { standbys } = store
  addGauges({ metrics, readiness, backlog, load, transport, progress, balances, minBalance, gas, standbys })
  return createOpsApp({ readiness, registry: metrics.registry, logger })
}

function createChecks(
  deps: OpsDeps,
  { relayer, store }: { readonly relayer: RelayerView; readonly store: StoreView },
): Check[] {
  const { config, provider, engine, relay, progress, phase, logger } = deps
  const { chainId, contracts } = config.chain
  const { transport } = provider
  const check = (name: string, look: Look) => createCheck({ name, look, logger })
  return [
    // It costs nothing, and a start or a stop is said at once.
    createCheck({ name: 'server', look: phaseLook(phase), logger, freshMs: 0 }),
    check('chain', chainLook({ transport, chainId })),
    check('contracts', contractsLook({ transport, contracts })),
    check('relayer', relayer.look),
    check('enclave', enclaveLookOf(config.enclave.trigger)),
    check('store', store.look),
    check('leases', leasesLook(engine.leases, ['narrator', 'trigger', ...relay.leases])),
    check('narrator', narratorLook({ progress, intervalMs: config.narrator.intervalMs })),
  ]
}

function enclaveLookOf(trigger: Config['enclave']['trigger']): Look {
  if (trigger.kind === 'http') return enclaveHostLook(trigger.url.reveal())
  const { command, envFile } = trigger
  // The system's search path, as for the enclave itself.
  const program = enclaveLook({ command, envFile, searchPath: process.env.PATH ?? '' })
  if (trigger.kind === 'process') return program
  const door = enclaveHostLook(`unix:${join(trigger.directory, 'door.sock')}`)
  return async () => (await program()) ?? (await door())
}

function phaseLook(phase: () => Phase): Look {
  return async () => {
    const current = phase()
    return current === 'running' ? null : current
  }
}
