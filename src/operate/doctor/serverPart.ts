import { type Finding, fault, ok } from '../../protocol/finding.js'
import { checkConfiguration } from '../../server/config/checkup.js'
import type { Config } from '../../server/config/config.js'
import { ConfigError } from '../../service/config.js'
import { checkLimits } from './limits.js'
import { checkMeasurement } from './measurement.js'
import { checkStores } from './stores.js'

/** The findings of the server's part, and the facts to compare with the enclave's. */
export interface ServerReport {
  readonly findings: Finding[]
  /** Null if the configuration cannot be used. */
  readonly facts: { readonly config: Config; readonly brokerAccount: string | null } | null
}

/** Checks the server's configuration against chain, broker and stores, and the running server's metrics against its limits. */
export async function checkServer(load: () => Config): Promise<ServerReport> {
  const config = loaded(load)
  if (config instanceof ConfigError) {
    const faults = config.faults.map(({ name, problem }) => fault('configuration', `${name}: ${problem}`))
    return { findings: faults, facts: null }
  }
  const [{ findings, brokerAccount }, measurement, stores, limits] = await Promise.all([
    checkConfiguration(config),
    checkMeasurement(config),
    checkStores(config),
    checkLimits(config),
  ])
  return {
    findings: [ok('configuration', 'complete'), ...findings, measurement, ...stores, ...limits],
    facts: { config, brokerAccount },
  }
}

function loaded(load: () => Config): Config | ConfigError {
  try {
    return load()
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}
