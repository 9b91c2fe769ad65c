import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type * as z from 'zod'
import { ADDRESS_VARIABLES } from '../../chain/contracts.js'
import { sameAddress } from '../../protocol/address.js'
import { bytesToHex, hexToBytes } from '../../protocol/hex.js'
import { addressOfKey, addressOfPublicKey, compressPoint } from '../../protocol/publicKey.js'
import {
  ConfigError,
  type ConfigFault,
  type Environment,
  faultsOf,
  formerFaults,
  readEnvFile,
  readSecretFiles,
  secretsOf,
  tlsFaults,
  withoutEmpty,
} from '../../service/config.js'
import { Secret } from '../../service/secret.js'
import { brokenRules, namesTwice, type Rule, repeatedValues } from '../../service/settingRules.js'
import type { RelayerKeyPlace } from '../signer/signer.js'
import { BUNDLED_ENCLAVE, environmentSchema, FORMER_VARIABLES } from './schema.js'

/** The configuration's file, unless `ENV_FILE` names another one. */
const USUAL_ENV_FILE = '.env'

const KIBIBYTE = 1_024

const OF_NO_FILE = {
  ...FORMER_VARIABLES,
  NO_COLOR: "belongs in the environment of the server's process (https://no-color.org)",
}

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
  const ofFile = file === '' ? {} : readEnvFile(file, 'ENV_FILE', environmentSchema, OF_NO_FILE)
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
  return toConfig(data, given.NO_COLOR === undefined)
}

/** An enclave that stays up elsewhere, or one that the server keeps up itself. */
function triggerOf(env: Settings) {
  const { ENCLAVE_URL: urls, ENCLAVE_TRIGGER_SECRET: secret } = env
  if (urls !== undefined && secret !== undefined) {
    // Secret because a hosted runtime's URL may hold a key.
    return { kind: 'http', urls: new Secret<readonly string[]>(urls), secret } as const
  }
  return {
    kind: 'resident',
    program: BUNDLED_ENCLAVE,
    /** Absolute. */
    envFile: resolve(env.ENCLAVE_ENV_FILE),
    directory: join(resolve(env.DATA_DIR), 'enclave'),
  } as const
}

function relayerKeyOf({
  RELAYER_PRIVATE_KEY: privateKey,
  RELAYER_KMS_KEY_ID: keyId,
}: Settings): RelayerKeyPlace {
  if (privateKey !== undefined) return { kind: 'private-key', privateKey }
  if (keyId !== undefined) return { kind: 'kms', keyId }
  throw new TypeError('the relay has no account')
}

/** The settings, and constants that only tests override. */
function toConfig(env: Settings, mayColour: boolean) {
  const dailyGas = BigInt(env.RELAY_DAILY_GAS)
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
      rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
      headersTimeoutMs: Math.ceil(env.REQUEST_TIMEOUT / 3),
      requestTimeoutMs: env.REQUEST_TIMEOUT,
      maxConnections: env.MAX_CONNECTIONS,
      maxConnectionsPerClient: Math.ceil(env.MAX_CONNECTIONS / 3),
      answerTimeoutMs: 30_000,
      maxUnderWay: env.MAX_UNDER_WAY,
      maxUnderWayPerClient: Math.ceil(env.MAX_UNDER_WAY / 3),
      shutdownTimeoutMs: 10_000,
    },
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
      logRange: 2_000,
    },
    narrator: {
      intervalMs: 2_000,
      ...env.NARRATOR_FORMAT,
      /** Whether a terminal with colours gets them. */
      mayColour,
    },
    relay: {
      listen: { port: env.RELAY_PORT, host: env.RELAY_HOST },
      authToken: env.RELAY_AUTH_TOKEN,
      relayerKey: relayerKeyOf(env),
      waitMs: 20_000,
      maxInFlight: env.RELAY_MAX_IN_FLIGHT,
      maxQueued: 1_000,
      /** Openings beside those: the orders that 10,000 employees place in a minute. */
      maxOpenings: 10_000,
      pollIntervalMs: 250,
      resubmitAfterMs: env.RELAY_RESUBMIT_AFTER,
      /** Wei per gas. */
      maxFeePerGas: env.RELAY_MAX_FEE,
      /** The limit of one transaction: EIP-7825. */
      maxGas: 2n ** 24n,
      gas: {
        perDay: dailyGas,
        /** The part of it that only orders written ahead may use. */
        reserve: dailyGas / 5n,
        perAccount: BigInt(env.RELAY_ACCOUNT_DAILY_GAS),
        /** A rulebook of ten thousand employees who all differ uses 58 million: it, and seven corrections on its first day, fit the default. */
        perInstitution: 10n * BigInt(env.RELAY_ACCOUNT_DAILY_GAS),
      },
      /** Wei. */
      minBalance: env.RELAY_MIN_BALANCE,
    },
    unopened: {
      expiryMs: env.ENVELOPE_EXPIRY,
      maxOrders: env.ENVELOPE_MAX_WAITING,
      maxPerClient: Math.max(10, Math.ceil(env.ENVELOPE_MAX_WAITING / 20)),
      maxBytesPerClient: 4 * KIBIBYTE * KIBIBYTE,
    },
    enclave: {
      /** 33-byte compressed form. */
      intentPublicKey: env.INTENT_PUBKEY && bytesToHex(compressPoint(env.INTENT_PUBKEY)),
      signer: env.ENCLAVE_SIGNER,
      trigger: triggerOf(env),
      /** Pause between two runs; 0 for none. */
      triggerIntervalMs: env.ENCLAVE_TRIGGER_INTERVAL ?? 0,
      maxRuns: env.ENCLAVE_MAX_RUNS,
      orderRunTimeoutMs: env.ORDER_RUN_TIMEOUT,
      policyRunTimeoutMs: env.POLICY_RUN_TIMEOUT,
    },
    broker: {
      keyId: env.ALPACA_KEY_ID,
      secretKey: env.ALPACA_SECRET_KEY,
      tradingUrl: env.ALPACA_TRADING_URL,
      dataUrl: env.ALPACA_DATA_URL,
      timeoutMs: 5_000,
      fees: env.BROKER_FEES,
      marketClockMaxAgeMs: env.MARKET_CLOCK_MAX_AGE,
    },
  }
}

/** The faults between variables, whether or not each of them is well-formed. */
function faultsBetween(environment: Environment): ConfigFault[] {
  // One address pasted twice would narrate and relay to the wrong contract; a secret used twice is known to two other parties.
  return [
    ...formerFaults(environment, FORMER_VARIABLES),
    ...repeatedValues(environment, [...Object.values(ADDRESS_VARIABLES), 'ENCLAVE_SIGNER']),
    ...repeatedValues(environment, secretsOf(environmentSchema)),
    ...relayerKeyFaults(environment),
    ...triggerFaults(environment),
    ...tlsFaults(environment),
  ]
}

function relayerKeyFaults({ RELAYER_PRIVATE_KEY, RELAYER_KMS_KEY_ID }: Environment): ConfigFault[] {
  if (RELAYER_PRIVATE_KEY !== undefined && RELAYER_KMS_KEY_ID !== undefined)
    return [{ name: 'RELAYER_KMS_KEY_ID', problem: 'stands beside RELAYER_PRIVATE_KEY: set one of the two' }]
  const none = RELAYER_PRIVATE_KEY === undefined && RELAYER_KMS_KEY_ID === undefined
  return none ? [{ name: 'RELAYER_PRIVATE_KEY', problem: 'is missing' }] : []
}

/** An enclave elsewhere has a URL and a secret. One that a server starts is that server's alone, and has neither. */
function triggerFaults({ ENCLAVE_URL, ENCLAVE_TRIGGER_SECRET, DATABASE_URL }: Environment): ConfigFault[] {
  if (ENCLAVE_URL !== undefined)
    return ENCLAVE_TRIGGER_SECRET === undefined
      ? [{ name: 'ENCLAVE_TRIGGER_SECRET', problem: 'is missing: ENCLAVE_URL needs it' }]
      : []
  const problem = 'stands without ENCLAVE_URL: an enclave that a server starts is for that server alone'
  return Object.entries({ ENCLAVE_TRIGGER_SECRET, DATABASE_URL })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => ({ name, problem }))
}

const RULES: readonly Rule<Settings>[] = [
  {
    name: 'OPS_PORT',
    problem: "is PORT too: the operator's endpoints need a port of their own",
    isBroken: ({ OPS_PORT, PORT }) => OPS_PORT !== 0 && OPS_PORT === PORT,
  },
  {
    name: 'RELAY_PORT',
    problem: "is PORT or OPS_PORT too: the enclave's requests need a port of their own",
    isBroken: ({ RELAY_PORT, PORT, OPS_PORT }) => RELAY_PORT !== 0 && [PORT, OPS_PORT].includes(RELAY_PORT),
  },
  {
    // The caller of a rulebook would time out before its turn.
    name: 'ENCLAVE_TRIGGER_INTERVAL',
    problem: 'is not shorter than POLICY_RUN_TIMEOUT',
    isBroken: ({ ENCLAVE_TRIGGER_INTERVAL = 0, POLICY_RUN_TIMEOUT }) =>
      ENCLAVE_TRIGGER_INTERVAL >= POLICY_RUN_TIMEOUT,
  },
  {
    name: 'RPC_URL',
    problem: 'names one node twice: a second one must be another',
    isBroken: ({ RPC_URL }) => namesTwice(RPC_URL),
  },
  {
    name: 'ENCLAVE_URL',
    problem: 'names one enclave twice: the next one runs elsewhere',
    isBroken: ({ ENCLAVE_URL: urls = [] }) => new Set(urls).size < urls.length,
  },
  {
    name: 'INTENT_PUBKEY',
    problem: 'is of the same key as ENCLAVE_SIGNER: each needs a key of its own',
    isBroken: ({ INTENT_PUBKEY: key, ENCLAVE_SIGNER: signer }) =>
      key !== undefined && signer !== undefined && sameAddress(addressOfPublicKey(hexToBytes(key)), signer),
  },
  {
    name: 'ENCLAVE_SIGNER',
    problem: 'stands with INTENT_PUBKEY, or neither does: an attested enclave posts both',
    isBroken: ({ INTENT_PUBKEY: key, ENCLAVE_SIGNER: signer }) =>
      (key === undefined) !== (signer === undefined),
  },
  {
    // Then the server holds the key that moves everyone's money.
    name: 'ENCLAVE_SIGNER',
    problem: "is an account of the relayer's keys: the enclave's key belongs to the enclave alone",
    isBroken: ({ ENCLAVE_SIGNER: signer, RELAYER_PRIVATE_KEY: key }) =>
      key !== undefined && signer !== undefined && sameAddress(addressOfKey(key.reveal()), signer),
  },
]
