import type { z } from 'zod'
import type { SharedBrokerOptions } from '../broker/index.js'
import type { ContractAddresses } from '../protocol/api.js'
import {
  ConfigError,
  type ConfigFault,
  type Environment,
  faultsOf,
  readEnvFile,
  readSecretFiles,
  tlsFaults,
  withoutEmpty,
} from '../service/config.js'
import { Secret } from '../service/secret.js'
import { environmentSchema, RESIDENT_VARIABLES } from './configSchema.js'
import { createKeys, type EnclaveKeys } from './keys.js'

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
  const ofFile = readEnvFile(file, 'ENCLAVE_ENV_FILE', environmentSchema)
  return readConfig(readSecretFiles({ ...ofFile, ...Object.fromEntries(given) }, environmentSchema))
}

/** @throws ConfigError with all faults */
export function readConfig(environment: Environment): EnclaveConfig {
  const { data, error } = environmentSchema.safeParse(withoutEmpty(environment))
  const faults = [...faultsOf(error), ...tlsFaults(environment)]
  if (data !== undefined) faults.push(...repeatedSecrets(data), ...shallowDepth(data))
  if (data === undefined || faults.length > 0) throw new ConfigError(faults)
  return data
}

const SECRETS = [
  'LEDGER_MASTER_KEY',
  'INTENT_PRIVATE_KEY',
  'ENCLAVE_PRIVATE_KEY',
  'ALPACA_SECRET_KEY',
  'RELAY_AUTH_TOKEN',
  'ENCLAVE_TRIGGER_SECRET',
] as const

/** One value in two places: what leaks at one of them opens the other, and the server has the last two. */
function repeatedSecrets(config: EnclaveConfig): ConfigFault[] {
  const digits = SECRETS.map((name) => {
    const value = config[name]
    return (value instanceof Secret ? value.reveal() : value)?.toLowerCase().replace(/^0x/, '')
  })
  return SECRETS.flatMap((name, index) => {
    const first = SECRETS[digits.indexOf(digits[index])]
    if (digits[index] === undefined || first === undefined || first === name) return []
    return [{ name, problem: `is ${first} too: each needs a value of its own` }]
  })
}

/** The chains of anvil and Hardhat, and of a geth for development: nobody else's money is on them. */
const TEST_CHAINS: ReadonlySet<number> = new Set([31_337, 1_337])

function shallowDepth({ CHAIN_ID, CHAIN_DEPTH }: EnclaveConfig): ConfigFault[] {
  if (CHAIN_DEPTH !== 0 || TEST_CHAINS.has(CHAIN_ID)) return []
  const problem = 'acts on blocks that a reorganization takes back: 0 is for a local test chain (31337, 1337)'
  return [{ name: 'CHAIN_DEPTH', problem }]
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
