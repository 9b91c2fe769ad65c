import type { z } from 'zod'
import type { SharedBrokerOptions } from '../broker/index.js'
import { ADDRESS_VARIABLES } from '../chain/contracts.js'
import type { ContractAddresses } from '../protocol/api.js'
import {
  ConfigError,
  type Environment,
  faultsOf,
  formerFaults,
  readEnvFile,
  readSecretFiles,
  secretsOf,
  tlsFaults,
  withoutEmpty,
} from '../service/config.js'
import { brokenRules, repeatedValues } from '../service/settingRules.js'
import { RULES } from './configRules.js'
import { environmentSchema, FORMER_VARIABLES, RESIDENT_VARIABLES } from './configSchema.js'
import { createKeys, type EnclaveKeys } from './keys/keys.js'

/** The enclave's configuration, by the names of its variables. */
export type EnclaveConfig = z.output<typeof environmentSchema>

/**
 * Reads the file that `ENCLAVE_ENV_FILE` names, with what the process was given of `RESIDENT_VARIABLES`, and no other
 * variable; without a file, the process's own environment.
 * @throws ConfigError with all faults
 */
export function loadConfig(environment: Environment = process.env): EnclaveConfig {
  const file = environment.ENCLAVE_ENV_FILE
  if (!file) return readConfig(readSecretFiles(environment, environmentSchema))
  const given = [...RESIDENT_VARIABLES, 'NODE_TLS_REJECT_UNAUTHORIZED'].flatMap((name) =>
    environment[name] ? [[name, environment[name]]] : [],
  )
  const ofFile = readEnvFile(file, 'ENCLAVE_ENV_FILE', environmentSchema, FORMER_VARIABLES)
  return readConfig(readSecretFiles({ ...ofFile, ...Object.fromEntries(given) }, environmentSchema))
}

/** Variables whose values differ: an address pasted twice, or one secret for two purposes; the server knows two of these secrets. */
const DISTINCT: readonly (readonly string[])[] = [
  Object.values(ADDRESS_VARIABLES),
  secretsOf(environmentSchema),
]

/** @throws ConfigError with all faults */
export function readConfig(environment: Environment): EnclaveConfig {
  const given = withoutEmpty(environment)
  const { data, error } = environmentSchema.safeParse(given)
  const faults = [
    ...faultsOf(error),
    ...formerFaults(environment, FORMER_VARIABLES),
    ...tlsFaults(environment),
    ...DISTINCT.flatMap((names) => repeatedValues(given, names)),
  ]
  if (data !== undefined) faults.push(...brokenRules(data, RULES))
  if (data === undefined || faults.length > 0) throw new ConfigError(faults)
  return data
}

export function keysOf(config: EnclaveConfig): EnclaveKeys {
  return createKeys({
    master: config.LEDGER_MASTER_KEY,
    intent: config.INTENT_PRIVATE_KEY,
    signing: config.ENCLAVE_PRIVATE_KEY,
  })
}

/** The five contracts. */
export function addressesOf(config: EnclaveConfig): ContractAddresses {
  return {
    institutionRegistry: config.INSTITUTION_REGISTRY_ADDRESS,
    orderEscrow: config.ORDER_ESCROW_ADDRESS,
    confidentialLedger: config.CONFIDENTIAL_LEDGER_ADDRESS,
    equityToken: config.EQUITY_TOKEN_ADDRESS,
    platformPool: config.PLATFORM_POOL_ADDRESS,
  }
}

/** The account that trades. */
export function brokerOptionsOf(config: EnclaveConfig): SharedBrokerOptions {
  return {
    tradingUrl: config.ALPACA_TRADING_URL,
    dataUrl: config.ALPACA_DATA_URL,
    keyId: config.ALPACA_KEY_ID,
    secretKey: config.ALPACA_SECRET_KEY,
    timeoutMs: config.BROKER_TIMEOUT,
    clockMaxAgeMs: config.BROKER_CLOCK_MAX_AGE,
  }
}
