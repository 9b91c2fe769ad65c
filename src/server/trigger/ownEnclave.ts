import { spawn } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { enclaveBootSchema } from '../../protocol/job.js'
import { runSecretSchema } from '../../protocol/runMessage.js'
import { createHook } from '../../service/lifetime.js'
import { describeError, type Logger } from '../../service/logger.js'
import { createPost } from '../../service/post.js'
import { readPrivateFile, stateOfPrivateFile, writeNewFile } from '../../service/privateFile.js'
import { Secret } from '../../service/secret.js'
import { pause } from '../../service/waiting.js'

interface OwnEnclaveOptions {
  /** Its socket, its secret, its log and what it remembers; absolute, this user's alone. */
  readonly directory: string
  readonly program: string
  /** The enclave's own configuration, a path that is handed on. */
  readonly envFile: string
  readonly searchPath: string
  readonly logger: Logger
}

/** The part of the enclave's `GET /health` that shows whether a start now would run the same program. */
const healthSchema = z.object({
  ...enclaveBootSchema.shape,
  pid: z.int().positive(),
  program: z.string(),
  configuredAt: z.number(),
})
type Health = z.output<typeof healthSchema>

const CHECK_INTERVAL_MS = 1_000
const CHECK_TIMEOUT_MS = 2_000
/** One that listens and answers nothing for so long hangs. */
const HUNG_MS = 30_000
/** Pause after an enclave that did not stay up: doubled each time, up to the longest. */
const AGAIN_MS = 250
const AGAIN_MAX_MS = 5_000
/** The log of earlier starts is kept beside the present one. */
const MAX_LOG_BYTES = 10_000_000

/**
 * How the server reaches the enclave that it starts itself.
 * @throws the system's error when the directory cannot be used, SharedFileError when others can read the secret
 */
export function createOwnEnclave(options: OwnEnclaveOptions) {
  const { directory, logger } = options
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const socketPath = join(directory, 'door.sock')
  const stopping = new AbortController()
  let watching: Promise<void> = Promise.resolve()
  /** The process that this server has started, while it lives. */
  let child: { readonly exit: Promise<unknown>; readonly killing: AbortController } | undefined
  /** When the checks in a row that it has not answered began. */
  let silentSince: number | undefined
  /** Starts in a row without an answer. */
  let failures = 0

  /** Whether it runs the present program and configuration; checked once per server. */
  let isCurrent: ((health: Health) => boolean) | undefined

  async function check(): Promise<void> {
    const health = await healthOf(socketPath)
    if (health === undefined) {
      if (child === undefined) return start()
      // One that ends after its runs has closed its socket: they end it.
      if (!existsSync(socketPath)) silentSince = undefined
      else killIfHung(child.killing)
      return
    }
    failures = 0
    silentSince = undefined
    isCurrent ??= await createCurrentCheck(options)
    if (isCurrent(health)) return
    isCurrent = () => true
    logger.info('enclave replaced')
    // It ends after its runs; the next one is started once its socket is gone.
    process.kill(health.pid, 'SIGTERM')
  }

  function killIfHung(killing: AbortController): void {
    silentSince ??= performance.now()
    if (performance.now() - silentSince < HUNG_MS || killing.signal.aborted) return
    logger.error('hung enclave killed')
    killing.abort()
  }

  function start(): void {
    silentSince = undefined
    const killing = new AbortController()
    const exit = spawnDetached(options, socketPath, killing.signal).then((exitCode) => {
      child = undefined
      failures++
      if (failures === 1) logger.error('enclave ended', { exitCode })
    })
    child = { exit, killing }
  }

  async function watch(): Promise<void> {
    const { signal } = stopping
    while (!signal.aborted) {
      try {
        await check()
      } catch (error) {
        logger.error('enclave not supervised', describeError(error))
      }
      // A dead enclave is started again immediately, unless it keeps dying.
      const again =
        failures === 0 ? CHECK_INTERVAL_MS : Math.min(AGAIN_MS * 2 ** (failures - 1), AGAIN_MAX_MS)
      const rested = pause(again, signal)
      await (child === undefined || failures > 0 ? rested : Promise.race([rested, child.exit]))
    }
  }

  return {
    urls: new Secret<readonly string[]>([`unix:${socketPath}`]),
    secret: new Secret(secretIn(directory)),
    /** Keeps the enclave up. It outlives this server, and the next one finds it by its socket. */
    services: [
      createHook('enclave', {
        async start() {
          await warnOfTrial(options)
          watching = watch()
        },
        stop() {
          stopping.abort()
          return watching
        },
      }),
    ],
  }
}

/**
 * docs/decisions/0019 says what an attacker in the server process can read. Warns also when the enclave would refuse its configuration,
 * without reading it: the enclave itself names the fault only in its own log.
 */
async function warnOfTrial({ envFile, logger }: OwnEnclaveOptions): Promise<void> {
  logger.warn("the enclave runs as the server's user: for trials only")
  const state = await stateOfPrivateFile(envFile)
  if (state === 'unreadable') logger.warn('ENCLAVE_ENV_FILE cannot be read: no enclave run can succeed')
  if (state === 'shared')
    logger.warn('ENCLAVE_ENV_FILE can be read by other users, chmod 600 it: no enclave run can succeed')
}

/** Drawn by the first server with this directory. */
function secretIn(directory: string): string {
  const path = join(directory, 'secret')
  if (!existsSync(path)) writeNewFile(path, `whsec_${randomBytes(32).toString('base64')}\n`)
  return runSecretSchema.parse(readPrivateFile(path).toString('utf8').trim())
}

/**
 * Resolves with its exit code. It has a group of its own, and inherits neither the environment, which holds the relayer's
 * key, nor an open file but its log's.
 */
async function spawnDetached(
  options: OwnEnclaveOptions,
  socketPath: string,
  killing: AbortSignal,
): Promise<number | null> {
  const { directory, program, envFile, searchPath } = options
  try {
    const log = openLog(join(directory, 'enclave.log'))
    const child = spawn(process.execPath, [program, 'serve'], {
      detached: true,
      stdio: ['ignore', log, log],
      env: {
        PATH: searchPath,
        ENCLAVE_ENV_FILE: envFile,
        ENCLAVE_STATE_DIR: directory,
        ENCLAVE_LISTEN: `unix:${socketPath}`,
      },
    })
    closeSync(log)
    child.unref()
    killing.addEventListener('abort', () => child.kill('SIGKILL'))
    const [code]: unknown[] = await once(child, 'exit')
    return typeof code === 'number' ? code : null
  } catch {
    // Its log cannot be opened.
    return null
  }
}

function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_LOG_BYTES) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

/** Undefined when no enclave answers at the socket. */
export async function healthOf(socketPath: string): Promise<Health | undefined> {
  const get = createPost({ timeoutMs: CHECK_TIMEOUT_MS, maxConnections: 1 })
  try {
    // No connection stays that an enclave which is about to end would answer on.
    const { text } = await get(`unix:${socketPath}`, { Connection: 'close' }, undefined, '/health')
    return healthSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

async function createCurrentCheck({ program, envFile }: OwnEnclaveOptions) {
  const own = hash('sha256', await readFile(program))
  const changedAt = statSync(envFile, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return (health: Health) => health.program === own && health.configuredAt >= changedAt
}
