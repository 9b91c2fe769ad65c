import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { runSecretSchema } from '../../protocol/runMessage.js'
import { ConfigError } from '../../service/config.js'
import { readPrivateFile } from '../../service/privateFile.js'
import type { CommonConfig, Listen } from '../commonSettings.js'

/** @throws ConfigError with all faults */
export function residentSettings(config: CommonConfig) {
  const stateDirectory = resolve(config.ENCLAVE_STATE_DIR)
  const secret = config.ENCLAVE_TRIGGER_SECRET ?? secretIn(stateDirectory)
  if (secret === undefined) {
    throw new ConfigError([{ name: 'ENCLAVE_TRIGGER_SECRET', problem: 'is missing' }])
  }
  return {
    listen: config.ENCLAVE_LISTEN,
    /** Signs jobs, notices and results. */
    secret,
    /** Base URL of the server. */
    serverUrl: config.RELAY_URL,
    relayToken: config.RELAY_AUTH_TOKEN,
    /** Absolute. */
    stateDirectory,
    maxRuns: config.MAX_RUNS,
    logLevel: config.LOG_LEVEL,
  }
}

/** The settings of an enclave that stays up, besides the rest of its configuration. */
export type ResidentSettings = ReturnType<typeof residentSettings>

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

const listenErrorSchema = z.object({ code: z.string(), syscall: z.enum(['listen', 'getaddrinfo']) })
const NO_ADDRESS = 'is no address of this machine: correct it, or leave it out'
/** Faults by the code of the system's error. */
const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: stop what uses it, or name another one here and in ENCLAVE_URL',
  EADDRNOTAVAIL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS,
  EACCES: 'needs rights that this user lacks: grant them, or name another one here and in ENCLAVE_URL',
}

/** The fault of `ENCLAVE_LISTEN` behind a start that failed; null where the error has another cause. */
export function listenFault(error: unknown, listen: Listen): ConfigError | null {
  const code = listenErrorSchema.safeParse(error).data?.code
  if (code === undefined) return null
  const where = 'path' in listen ? listen.path : `${listen.host}:${listen.port}`
  const problem = `${where} ${LISTEN_FAULTS[code] ?? `cannot be listened on (${code})`}`
  return new ConfigError([{ name: 'ENCLAVE_LISTEN', problem }])
}
