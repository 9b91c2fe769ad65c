import { parse } from 'dotenv'
import type { z } from 'zod'
import type { SharedBrokerOptions } from '../broker/index.js'
import type { ContractAddresses } from '../protocol/api.js'
import { readPrivateFile, SharedFileError } from '../service/privateFile.js'
import { environmentSchema, RESIDENT_VARIABLES } from './configSchema.js'

/** Variables as a process or a file has them. An empty one counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The enclave's configuration, by the names of its variables. */
export type EnclaveConfig = z.output<typeof environmentSchema>

/** A configuration that can't be used. Names every faulty variable and quotes no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * Reads the file that `ENCLAVE_ENV_FILE` names, with what the process was given of `RESIDENT_VARIABLES`, and nothing else;
 * without a file, the process's own environment.
 * @throws ConfigError with every fault at once
 */
export function loadConfig(environment: Environment = process.env): EnclaveConfig {
  const file = environment.ENCLAVE_ENV_FILE
  if (!file) return readConfig(environment)
  const given = RESIDENT_VARIABLES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []))
  return readConfig({ ...readEnvFile(file), ...Object.fromEntries(given) })
}

/** @throws ConfigError with every fault at once */
export function readConfig(environment: Environment): EnclaveConfig {
  const given = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '')
  const result = environmentSchema.safeParse(Object.fromEntries(given))
  if (result.success) return result.data
  const faults = new Map<string, string>()
  for (const { path, message } of result.error.issues) {
    const name = String(path[0])
    if (!faults.has(name)) faults.set(name, message)
  }
  throw new ConfigError([...faults].map(([name, problem]) => `${name}: ${problem}`).join('\n'))
}

function readEnvFile(path: string): Environment {
  try {
    return parse(readPrivateFile(path))
  } catch (error) {
    const isShared = error instanceof SharedFileError
    throw new ConfigError(
      `ENCLAVE_ENV_FILE: ${isShared ? error.message : 'names a file that cannot be read'}`,
    )
  }
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
    timeoutMs: config.BROKER_TIMEOUT_MS,
    clockMaxAgeMs: config.BROKER_CLOCK_MAX_AGE_MS,
  }
}
