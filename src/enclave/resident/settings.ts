import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runSecretSchema } from '../../protocol/runMessage.js'
import type { LogLevel } from '../../service/logger.js'
import { readPrivateFile } from '../../service/privateFile.js'
import { ConfigError, type EnclaveConfig } from '../config.js'
import type { Listen } from '../configSchema.js'

/** What an enclave that stays up needs besides the rest of its configuration. */
export interface ResidentSettings {
  readonly listen: Listen
  /** Signs jobs, notices and results. */
  readonly secret: string
  /** Base URL of the server. */
  readonly serverUrl: string
  /** Absolute. */
  readonly stateDirectory: string
  readonly maxRuns: number
  readonly logLevel: LogLevel
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** @throws ConfigError with every fault at once */
export function residentSettings(
  config: EnclaveConfig,
  environment: Readonly<Record<string, string | undefined>>,
): ResidentSettings {
  const stateDirectory = resolve(config.ENCLAVE_STATE_DIR)
  const secret = config.ENCLAVE_TRIGGER_SECRET ?? secretIn(stateDirectory)
  const { protocol, hostname } = new URL(config.RELAY_URL)
  const faults = [
    ...(secret === undefined ? ['ENCLAVE_TRIGGER_SECRET: is missing'] : []),
    ...(protocol === 'https:' || LOOPBACK.test(hostname)
      ? []
      : ['RELAY_URL: expected https unless the server is on this machine']),
    ...(environment.NODE_TLS_REJECT_UNAUTHORIZED === '0'
      ? ['NODE_TLS_REJECT_UNAUTHORIZED: lets anyone pass for the server']
      : []),
  ]
  if (secret === undefined || faults.length > 0) throw new ConfigError(faults.join('\n'))
  return {
    listen: config.ENCLAVE_LISTEN,
    secret,
    serverUrl: config.RELAY_URL,
    stateDirectory,
    maxRuns: config.MAX_RUNS,
    logLevel: config.LOG_LEVEL,
  }
}

/** As the server that starts its own enclave leaves it. */
function secretIn(directory: string): string | undefined {
  const path = join(directory, 'secret')
  if (!existsSync(path)) return undefined
  try {
    return runSecretSchema.parse(readPrivateFile(path).toString('utf8').trim())
  } catch {
    throw new ConfigError('ENCLAVE_STATE_DIR: its file secret cannot be used')
  }
}
