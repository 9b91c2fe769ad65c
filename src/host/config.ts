import { resolve } from 'node:path'
import type { z } from 'zod'
import { ConfigError, type Environment, faultsOf, withEnvFile, withoutEmpty } from '../server/config.js'
import { bundledEnclaveCommand } from '../server/configSchema.js'
import { environmentSchema } from './configSchema.js'

// The only reader of the host's environment.

/** The host's configuration. */
export type HostConfig = ReturnType<typeof toConfig>

/**
 * Reads the process's environment and the file that `ENV_FILE` names (else `.env.host`, when there is one).
 * @throws ConfigError with every fault at once
 */
export function loadConfig(environment: Environment = process.env): HostConfig {
  return readConfig(withEnvFile(environment, '.env.host'))
}

/** @throws ConfigError with every fault at once */
export function readConfig(environment: Environment): HostConfig {
  const given = withoutEmpty(environment)
  const result = environmentSchema.safeParse(given)
  const faults = faultsOf(result.error)
  if (given.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    faults.set('NODE_TLS_REJECT_UNAUTHORIZED', 'lets anybody pass for the server')
  }
  if (faults.size === 0 && result.success) return toConfig(result.data)
  throw new ConfigError([...faults].map(([name, problem]) => ({ name, problem })))
}

function toConfig(env: z.output<typeof environmentSchema>) {
  return {
    http: {
      port: env.PORT,
      host: env.HOST,
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 30_000,
      answerTimeoutMs: 30_000,
      keepAliveTimeoutMs: 65_000,
      maxConnections: 1_000,
      shutdownTimeoutMs: env.SHUTDOWN_TIMEOUT,
    },
    logLevel: env.LOG_LEVEL,
    serverUrl: env.SERVER_URL,
    secret: env.ENCLAVE_TRIGGER_SECRET,
    /** Program and arguments; never a shell's command line. */
    command: env.ENCLAVE_COMMAND ?? bundledEnclaveCommand,
    /** Absolute. */
    envFile: resolve(env.ENCLAVE_ENV_FILE),
    maxRuns: env.MAX_RUNS,
    /** Absolute. */
    dataDir: resolve(env.DATA_DIR),
  }
}
