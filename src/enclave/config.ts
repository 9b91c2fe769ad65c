import type * as z from 'zod'
import type { Environment } from '../service/config.js'
import { loadSettings, readSettings } from './commonConfig.js'
import { environmentSchema, FORMER_VARIABLES } from './configSchema.js'
import { createKeys, type EnclaveKeys } from './keys/keys.js'

/** The configuration of an enclave whose keys are in files, by the names of its variables. */
export type EnclaveConfig = z.output<typeof environmentSchema>

const SETTINGS = { schema: environmentSchema, former: FORMER_VARIABLES }

/** The settings of such an enclave. @throws ConfigError with all faults */
export function loadConfig(environment: Environment = process.env): EnclaveConfig {
  return loadSettings(SETTINGS, environment)
}

/** @throws ConfigError with all faults */
export function readConfig(environment: Environment): EnclaveConfig {
  return readSettings(SETTINGS, environment)
}

export function keysOf(config: EnclaveConfig): EnclaveKeys {
  return createKeys({
    master: config.LEDGER_MASTER_KEY,
    intent: config.INTENT_PRIVATE_KEY,
    signing: config.ENCLAVE_PRIVATE_KEY,
  })
}
