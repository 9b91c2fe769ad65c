import type * as z from 'zod'
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
import { brokenRules, type Rule, repeatedValues } from '../service/settingRules.js'
import { type CommonConfig, RESIDENT_VARIABLES } from './commonSettings.js'
import { RULES } from './configRules.js'

/** The settings of one of the enclave's programs. */
interface Settings<C extends CommonConfig> {
  readonly schema: z.ZodType<C> & z.ZodObject<Record<string, z.core.$ZodType>>
  /** Variables that it does not take, each with what to do about it. */
  readonly former: Readonly<Record<string, string>>
  /** Rules beside those of every enclave. */
  readonly rules?: readonly Rule<C>[]
}

/**
 * Reads the file that `ENCLAVE_ENV_FILE` names, with what the process was given of `RESIDENT_VARIABLES`, and no other
 * variable; without a file, the process's own environment.
 * @throws ConfigError with all faults
 */
export function loadSettings<C extends CommonConfig>(settings: Settings<C>, environment: Environment): C {
  const { schema, former } = settings
  const file = environment.ENCLAVE_ENV_FILE
  if (!file) return readSettings(settings, readSecretFiles(environment, schema))
  const given = [...RESIDENT_VARIABLES, 'NODE_TLS_REJECT_UNAUTHORIZED'].flatMap((name) =>
    environment[name] ? [[name, environment[name]]] : [],
  )
  const ofFile = readEnvFile(file, 'ENCLAVE_ENV_FILE', schema, former)
  return readSettings(settings, readSecretFiles({ ...ofFile, ...Object.fromEntries(given) }, schema))
}

/** @throws ConfigError with all faults */
export function readSettings<C extends CommonConfig>(
  { schema, former, rules = [] }: Settings<C>,
  environment: Environment,
): C {
  const given = withoutEmpty(environment)
  // Variables whose values differ: an address pasted twice, or one secret for two purposes; the server knows two of these secrets.
  const distinct = [Object.values(ADDRESS_VARIABLES), secretsOf(schema)]
  const { data, error } = schema.safeParse(given)
  const faults = [
    ...faultsOf(error),
    ...formerFaults(environment, former),
    ...tlsFaults(environment),
    ...distinct.flatMap((names) => repeatedValues(given, names)),
  ]
  if (data !== undefined) faults.push(...brokenRules<CommonConfig>(data, RULES), ...brokenRules(data, rules))
  if (data === undefined || faults.length > 0) throw new ConfigError(faults)
  return data
}

/** The five contracts. */
export function addressesOf(config: CommonConfig): ContractAddresses {
  return {
    institutionRegistry: config.INSTITUTION_REGISTRY_ADDRESS,
    orderEscrow: config.ORDER_ESCROW_ADDRESS,
    confidentialLedger: config.CONFIDENTIAL_LEDGER_ADDRESS,
    equityToken: config.EQUITY_TOKEN_ADDRESS,
    platformPool: config.PLATFORM_POOL_ADDRESS,
  }
}

/** A configuration with the keys of the account that trades. */
export interface TradingConfig extends CommonConfig {
  readonly ALPACA_KEY_ID: string
  readonly ALPACA_SECRET_KEY: string
}

/** The account that trades. */
export function brokerOptionsOf(config: TradingConfig): SharedBrokerOptions {
  return {
    tradingUrl: config.ALPACA_TRADING_URL,
    dataUrl: config.ALPACA_DATA_URL,
    keyId: config.ALPACA_KEY_ID,
    secretKey: config.ALPACA_SECRET_KEY,
    timeoutMs: config.BROKER_TIMEOUT,
    clockMaxAgeMs: config.BROKER_CLOCK_MAX_AGE,
  }
}
