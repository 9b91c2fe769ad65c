import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { z } from 'zod'
import { ADDRESS_VARIABLES } from '../../chain/contracts.js'
import { bytesToHex } from '../../protocol/hex.js'
import { compressPoint } from '../../protocol/publicKey.js'
import {
  ConfigError,
  type ConfigFault,
  type Environment,
  faultsOf,
  readEnvFile,
  readSecretFiles,
  secretsOf,
  tlsFaults,
  withoutEmpty,
} from '../../service/config.js'
import { Secret } from '../../service/secret.js'
import { brokenRules, repeatedValues } from '../../service/settingRules.js'
import type { RelayerKeyPlace } from '../signer/signer.js'
import { RULES } from './rules.js'
import { BUNDLED_ENCLAVE, environmentSchema, FORMER_VARIABLES, TRIGGER_KINDS } from './schema.js'

/** Where the configuration is, unless `ENV_FILE` names another file. */
const USUAL_ENV_FILE = '.env'

/** The server's configuration. Secrets are of the type `Secret`, which no log line or JSON can show. */
export type Config = ReturnType<typeof toConfig>

type Settings = z.output<typeof environmentSchema>

/**
 * The only reader of the server's environment: the process's own and the file that `ENV_FILE` names (else `.env`, if it
 * exists). A variable of the environment wins over the file's; the process's own environment is not changed.
 *
 * @throws ConfigError with all faults
 */
export function loadConfig(environment: Environment = process.env): Config {
  const file = envFileOf(environment)
  const ofFile = file === '' ? {} : readEnvFile(file, 'ENV_FILE', environmentSchema, FORMER_VARIABLES)
  return readConfig(readSecretFiles({ ...ofFile, ...withoutEmpty(environment) }, environmentSchema))
}

/** The file that the configuration is read from; empty where there is none. */
export function envFileOf({ ENV_FILE = '' }: Environment): string {
  return ENV_FILE === '' && existsSync(USUAL_ENV_FILE) ? USUAL_ENV_FILE : ENV_FILE
}

/** @throws ConfigError with all faults */
export function readConfig(environment: Environment): Config {
  const given = withoutEmpty(environment)
  const { data, error } = environmentSchema.safeParse(given)
  const ofVariables = faultsOf(error)
  const between = faultsBetween(given).filter(({ name }) => !ofVariables.some((fault) => fault.name === name))
  const faults = [...ofVariables, ...between]
  if (data !== undefined) faults.push(...brokenRules(data, RULES))
  if (data === undefined || faults.length > 0) throw new ConfigError(faults)
  return toConfig(data)
}

/** Where the enclave runs. */
function triggerOf(env: Settings) {
  const { ENCLAVE_URL: url, ENCLAVE_TRIGGER_SECRET: secret } = env
  if (url !== undefined && secret !== undefined) {
    // Secret because a hosted runtime's URL may hold a key.
    return { kind: 'http', url: new Secret(url), secret } as const
  }
  return {
    kind: 'resident',
    program: BUNDLED_ENCLAVE,
    /** Absolute. */
    envFile: resolve(env.ENCLAVE_ENV_FILE),
    directory: join(resolve(env.DATA_DIR), 'enclave'),
  } as const
}

function relayerKeysOf(env: Settings): RelayerKeyPlace[] {
  const privateKeys = env.RELAYER_PRIVATE_KEYS ?? listed(env.RELAYER_PRIVATE_KEY)
  const keyIds = env.RELAYER_KMS_KEY_IDS ?? listed(env.RELAYER_KMS_KEY_ID)
  return [
    ...privateKeys.map((privateKey) => ({ kind: 'private-key', privateKey }) as const),
    ...keyIds.map((keyId) => ({ kind: 'kms', keyId }) as const),
  ]
}

function listed<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value]
}

function toConfig(env: Settings) {
  return {
    logLevel: env.LOG_LEVEL,
    /** Absolute. */
    dataDir: resolve(env.DATA_DIR),
    /** Undefined: the stores are in `dataDir`. */
    databaseUrl: env.DATABASE_URL,
    leaseTtlMs: env.LEASE_TTL,
    /** Undefined: for ever. */
    retentionMs: env.RECORD_RETENTION,
    http: {
      port: env.PORT,
      host: env.HOST,
      frontendOrigin: env.FRONTEND_ORIGIN,
      /** Reverse proxies in front. */
      trustProxy: env.TRUST_PROXY,
      bodyLimitBytes: env.BODY_LIMIT_BYTES,
      rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
      headersTimeoutMs: env.HEADERS_TIMEOUT,
      requestTimeoutMs: env.REQUEST_TIMEOUT,
      maxConnections: env.MAX_CONNECTIONS,
      maxConnectionsPerClient: env.MAX_CONNECTIONS_PER_CLIENT,
      answerTimeoutMs: env.ANSWER_TIMEOUT,
      keepAliveTimeoutMs: env.KEEP_ALIVE_TIMEOUT,
      maxUnderWay: env.MAX_UNDER_WAY,
      maxUnderWayPerClient: env.MAX_UNDER_WAY_PER_CLIENT,
      shutdownTimeoutMs: env.SHUTDOWN_TIMEOUT,
    },
    /** Where the operator's endpoints listen. */
    ops: { port: env.OPS_PORT, host: env.OPS_HOST },
    chain: {
      /** Secret because a node's URL may hold a key. */
      rpcUrls: new Secret<readonly string[]>(env.RPC_URL),
      rpcTimeoutMs: env.RPC_TIMEOUT,
      chainId: env.CHAIN_ID,
      /** Checksummed. */
      contracts: {
        institutionRegistry: env.INSTITUTION_REGISTRY_ADDRESS,
        orderEscrow: env.ORDER_ESCROW_ADDRESS,
        confidentialLedger: env.CONFIDENTIAL_LEDGER_ADDRESS,
        equityToken: env.EQUITY_TOKEN_ADDRESS,
        platformPool: env.PLATFORM_POOL_ADDRESS,
      },
      confirmations: env.CONFIRMATIONS,
      readMaxAgeMs: env.READ_MAX_AGE,
      /** Blocks. */
      logRange: env.RPC_LOG_RANGE,
    },
    narrator: {
      intervalMs: env.NARRATOR_INTERVAL,
      confirmations: env.NARRATOR_CONFIRMATIONS ?? env.CONFIRMATIONS,
      format: env.NARRATOR_FORMAT,
      /** Whether a terminal with colours gets them. */
      mayColour: env.NO_COLOR === undefined,
    },
    relay: {
      /** Where the enclave's own routes listen. */
      listen: { port: env.RELAY_PORT, host: env.RELAY_HOST },
      authToken: env.RELAY_AUTH_TOKEN,
      /** At least one. */
      relayerKeys: relayerKeysOf(env),
      waitMs: env.RELAY_WAIT,
      maxInFlight: env.RELAY_MAX_IN_FLIGHT,
      /** Undefined: as many as the nodes take. */
      maxSentAhead: env.RELAY_SEND_AHEAD,
      maxQueued: env.RELAY_MAX_QUEUED,
      pollIntervalMs: env.RELAY_POLL_INTERVAL,
      resubmitAfterMs: env.RELAY_RESUBMIT_AFTER,
      /** Wei per gas. */
      maxFeePerGas: env.RELAY_MAX_FEE,
      maxGas: BigInt(env.RELAY_MAX_GAS),
      gas: {
        perDay: BigInt(env.RELAY_DAILY_GAS),
        reserve: (BigInt(env.RELAY_DAILY_GAS) * BigInt(env.RELAY_RESERVE_PERCENT)) / 100n,
        perAccount: BigInt(env.RELAY_ACCOUNT_DAILY_GAS),
        perInstitution: BigInt(env.RELAY_INSTITUTION_DAILY_GAS),
      },
      /** Wei. */
      minBalance: env.RELAY_MIN_BALANCE,
    },
    /** Limits of the envelopes without an escrow. */
    unopened: {
      expiryMs: env.ENVELOPE_EXPIRY,
      maxOrders: env.ENVELOPE_MAX_WAITING,
      maxPerClient: env.ENVELOPE_MAX_PER_CLIENT,
      maxBytesPerClient: env.ENVELOPE_MAX_BYTES_PER_CLIENT,
    },
    enclave: {
      /** 33-byte compressed form. */
      intentPublicKey: bytesToHex(compressPoint(env.INTENT_PUBKEY)),
      signer: env.ENCLAVE_SIGNER,
      trigger: triggerOf(env),
      /** Between two runs; 0 for none. */
      triggerIntervalMs: env.ENCLAVE_TRIGGER_INTERVAL ?? 0,
      maxRuns: env.ENCLAVE_MAX_RUNS,
      orderRunTimeoutMs: env.ORDER_RUN_TIMEOUT,
      policyRunTimeoutMs: env.POLICY_RUN_TIMEOUT,
      /** Undefined: once after each market's close. */
      reconcileIntervalMs: env.RECONCILE_INTERVAL,
    },
    broker: {
      keyId: env.ALPACA_KEY_ID,
      secretKey: env.ALPACA_SECRET_KEY,
      tradingUrl: env.ALPACA_TRADING_URL,
      dataUrl: env.ALPACA_DATA_URL,
      timeoutMs: env.ALPACA_TIMEOUT,
      fees: env.BROKER_FEES,
      marketMaxAgeMs: env.MARKET_MAX_AGE,
      marketClockMaxAgeMs: env.MARKET_CLOCK_MAX_AGE,
    },
  }
}

/** The faults between variables, whether or not each of them is well-formed. */
function faultsBetween(environment: Environment): ConfigFault[] {
  const former = Object.entries(FORMER_VARIABLES).filter(([name]) => environment[name] !== undefined)
  // One address pasted twice would narrate and relay to the wrong contract; a secret used twice is known to two other parties.
  return [
    ...former.map(([name, problem]) => ({ name, problem })),
    ...repeatedValues(environment, [...Object.values(ADDRESS_VARIABLES), 'ENCLAVE_SIGNER']),
    ...repeatedValues(environment, secretsOf(environmentSchema)),
    ...relayerKeyFaults(environment),
    ...triggerFaults(environment),
    ...tlsFaults(environment),
  ]
}

const HTTP_VARIABLES = ['ENCLAVE_URL', 'ENCLAVE_TRIGGER_SECRET'] as const

const RELAYER_KEY_VARIABLES = [
  'RELAYER_PRIVATE_KEY',
  'RELAYER_PRIVATE_KEYS',
  'RELAYER_KMS_KEY_ID',
  'RELAYER_KMS_KEY_IDS',
] as const

function relayerKeyFaults(environment: Environment): ConfigFault[] {
  const [first, ...others] = RELAYER_KEY_VARIABLES.filter((name) => environment[name] !== undefined)
  if (first === undefined) return [{ name: 'RELAYER_PRIVATE_KEY', problem: 'is missing' }]
  return others.map((name) => ({ name, problem: `stands beside ${first}: set one of the two` }))
}

/** Settings of one kind of trigger beside another kind show a mistake about where the enclave runs. */
function triggerFaults(environment: Environment): ConfigFault[] {
  const { ENCLAVE_TRIGGER, DATABASE_URL } = environment
  // A misspelt kind is a fault of its own, and says nothing of the other variables.
  if (ENCLAVE_TRIGGER !== undefined && !TRIGGER_KINDS.some((kind) => kind === ENCLAVE_TRIGGER)) return []
  const isHttp = ENCLAVE_TRIGGER === 'http'
  const faults: ConfigFault[] = HTTP_VARIABLES.filter(
    (name) => (environment[name] !== undefined) !== isHttp,
  ).map((name) => ({ name, problem: isHttp ? 'is missing' : 'stands without ENCLAVE_TRIGGER=http' }))
  // An enclave that a server starts is that server's alone, and other servers could not read its directory.
  if (DATABASE_URL !== undefined && !isHttp) {
    const problem =
      'stands without ENCLAVE_TRIGGER=http and ENCLAVE_URL: no server on a database starts an enclave'
    faults.push({ name: 'DATABASE_URL', problem })
  }
  return faults
}
