import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runSecretSchema } from '../../protocol/runMessage.js'
import { ConfigError, type ConfigFault, type Environment } from '../../service/config.js'
import type { LogLevel } from '../../service/logger.js'
import { readPrivateFile } from '../../service/privateFile.js'
import type { EnclaveConfig } from '../config.js'
import type { Listen } from '../configSchema.js'

/** The settings of an enclave that stays up, besides the rest of its configuration. */
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

/** @throws ConfigError with all faults */
export function residentSettings(config: EnclaveConfig, environment: Environment): ResidentSettings {
  const stateDirectory = resolve(config.ENCLAVE_STATE_DIR)
  const secret = config.ENCLAVE_TRIGGER_SECRET ?? secretIn(stateDirectory)
  const { protocol, hostname } = new URL(config.RELAY_URL)
  const faults: ConfigFault[] = []
  if (secret === undefined) faults.push({ name: 'ENCLAVE_TRIGGER_SECRET', problem: 'is missing' })
  if (protocol !== 'https:' && !LOOPBACK.test(hostname)) {
    faults.push({ name: 'RELAY_URL', problem: 'expected https unless the server is on this machine' })
  }
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    faults.push({ name: 'NODE_TLS_REJECT_UNAUTHORIZED', problem: 'lets anyone pass for the server' })
  }
  if (secret === undefined || faults.length > 0) throw new ConfigError(faults)
  return {
    listen: config.ENCLAVE_LISTEN,
    secret,
    serverUrl: config.RELAY_URL,
    stateDirectory,
    maxRuns: config.MAX_RUNS,
    logLevel: config.LOG_LEVEL,
  }
}

/** The secret that a server leaves for the enclave which it starts itself. */
function secretIn(directory: string): string | undefined {
  const path = join(directory, 'secret')
  if (!existsSync(path)) return undefined
  try {
    return runSecretSchema.parse(readPrivateFile(path).toString('utf8').trim())
  } catch {
    throw new ConfigError([{ name: 'ENCLAVE_STATE_DIR', problem: 'its file secret cannot be used' }])
  }
}
