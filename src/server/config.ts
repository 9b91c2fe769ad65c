import { join, resolve } from 'node:path'
import { parse as parseEnvFile } from 'dotenv'
import type { z } from 'zod'
import { bytesToHex } from '../protocol/hex.js'
import { compressPoint } from '../protocol/publicKey.js'
import { readPrivateFile, SharedFileError } from '../service/privateFile.js'
import { faultsBetween, faultsOfSettings } from './configRules.js'
import { bundledEnclaveCommand, environmentSchema } from './configSchema.js'
import type { ConfigFault, Environment } from './configVariable.js'
import { Secret } from './secret.js'
import type { RelayerKeyPlace } from './signer/keys.js'

// The only reader of the server's environment.

/** The environment can't be used. Lists every fault, not just the first. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly faults: readonly ConfigFault[]) {
    super(faults.map(({ name, problem }) => `${name}: ${problem}`).join('\n'))
  }
}

/** The server's configuration. What is secret is a `Secret`, which no log line or JSON can show. */
export type Config = ReturnType<typeof toConfig>

/**
 * Reads the process's environment and the file that `ENV_FILE` names (else `.env`, when there is one). A variable
 * of the environment wins over the file's; the process's own environment is not changed.
 *
 * @throws ConfigError with every fault at once
 */
export function loadConfig(environment: Environment = process.env): Config {
  return readConfig(withEnvFile(environment, '.env'))
}

/** @throws ConfigError with every fault at once */
export function readConfig(environment: Environment): Config {
  const given = withoutEmpty(environment)
  const result = environmentSchema.safeParse(given)
  const faults = faultsOf(result.error)
  for (const { name, problem } of faultsBetween(given)) {
    if (!faults.has(name)) faults.set(name, problem)
  }
  if (faults.size === 0 && result.success) {
    for (const { name, problem } of faultsOfSettings(result.data)) faults.set(name, problem)
    if (faults.size === 0) return toConfig(result.data)
  }
  throw new ConfigError([...faults].map(([name, problem]) => ({ name, problem })))
}

/** The first fault of each variable. */
export function faultsOf(error: z.ZodError | undefined): Map<string, string> {
  const faults = new Map<string, string>()
  for (const issue of error?.issues ?? []) {
    const name = String(issue.path[0])
    if (!faults.has(name)) faults.set(name, issue.message)
  }
  return faults
}

/**
 * The environment with what the file has besides that `ENV_FILE` names, else `usual`, when there is one.
 * @throws ConfigError when the file can't be read, or can be by other users of the machine
 */
function withEnvFile(environment: Environment, usual: string): Environment {
  return { ...readEnvFile(environment.ENV_FILE, usual), ...withoutEmpty(environment) }
}

function readEnvFile(named: string | undefined, usual: string): Environment {
  const path = resolve(named || usual)
  try {
    return withoutEmpty(parseEnvFile(readPrivateFile(path)))
  } catch (error) {
    if (!named && error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    const isShared = error instanceof SharedFileError
    const problem = isShared ? error.message : `${path} cannot be read`
    throw new ConfigError([{ name: 'ENV_FILE', problem }])
  }
}

function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
}

/** Where the enclave runs. */
function triggerOf(env: z.output<typeof environmentSchema>) {
  const { ENCLAVE_URL: url, ENCLAVE_TRIGGER_SECRET: secret } = env
  if (url !== undefined && secret !== undefined) {
    // Secret, as a hosted runtime's URL may hold a key.
    return { kind: 'http', url: new Secret(url), secret } as const
  }
  /** Absolute. */
  const envFile = resolve(env.ENCLAVE_ENV_FILE)
  if (env.ENCLAVE_TRIGGER === 'resident') {
    const directory = join(resolve(env.DATA_DIR), 'enclave')
    return { kind: 'resident', command: bundledEnclaveCommand, envFile, directory } as const
  }
  return {
    kind: 'process',
    /** Program and arguments; never a shell's command line. */
    command: env.ENCLAVE_COMMAND ?? bundledEnclaveCommand,
    envFile,
  } as const
}

function relayerKeysOf(env: z.output<typeof environmentSchema>): RelayerKeyPlace[] {
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

function toConfig(env: z.output<typeof environmentSchema>) {
  return {
    logLevel: env.LOG_LEVEL,
    /** Absolute. */
    dataDir: resolve(env.DATA_DIR),
    /** Undefined: the stores are in `dataDir`. */
    databaseUrl: env.DATABASE_URL,
    leaseTtlMs: env.LEASE_TTL,
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
      /** Longest wait for a request's turn. */
      maxWaitMs: env.MAX_WAIT,
      maxUnderWay: env.MAX_UNDER_WAY,
      maxUnderWayPerClient: env.MAX_UNDER_WAY_PER_CLIENT,
      shutdownTimeoutMs: env.SHUTDOWN_TIMEOUT,
    },
    /** Where the operator's endpoints listen. */
    ops: { port: env.OPS_PORT, host: env.OPS_HOST },
    chain: {
      /** Secret, as a node's URL may hold a key. */
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
      /** Unless the user wants none, a terminal that has colours is given some. */
      mayColour: env.NO_COLOR === undefined,
    },
    relay: {
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
    /** Of what is stored without an escrow. */
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
      maxRuns: env.ENCLAVE_MAX_RUNS ?? (env.ENCLAVE_TRIGGER === 'process' ? 4 : 240),
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
