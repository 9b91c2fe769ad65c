import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { killWithParent } from './killWithParent.js'
import { ROOT } from './settings.js'

const READY_TIMEOUT_MS = 90_000
const READY_POLL_MS = 50
const STOP_TIMEOUT_MS = 15_000

/** The programs, or the page, are not compiled yet. */
export class MissingBuildError extends Error {
  override readonly name = 'MissingBuildError'

  constructor(what = 'the programs are', command = 'npm run build') {
    super(`${what} not built: run \`${command}\` first (\`npm run sandbox\` does)`)
  }
}

export interface ServerProcess {
  readonly pid: number
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>
  /** SIGTERM, and SIGKILL when that is not enough in time. Resolves when the process is gone. */
  stop(): Promise<void>
  /** SIGKILL at once. */
  kill(): Promise<void>
}

interface ServerProcessOptions {
  /** Holds the program's env file; gets its log. */
  directory: string
  url: string
  /** Gets each line that the server narrates. */
  narrate: (line: string) => void
  /** Gets each line of its log. */
  logged?: (line: string) => void
  /** In the directory. */
  log?: string
  /** In the place of those in its env file. */
  variables?: Record<string, string>
}

/** A program that answers `/health`. */
interface Program {
  readonly main: string
  readonly arguments: readonly string[]
  /** Names its configuration to it. */
  readonly variable: 'ENV_FILE' | 'ENCLAVE_ENV_FILE'
  readonly envFile: string
  /** The usual name. */
  readonly log: string
}

const SERVER: Program = {
  main: join(ROOT, 'dist/server/main.js'),
  arguments: [],
  variable: 'ENV_FILE',
  envFile: '.env',
  log: 'server.log',
}
const ENCLAVE: Program = {
  main: join(ROOT, 'dist/enclave/main.js'),
  arguments: ['serve'],
  variable: 'ENCLAVE_ENV_FILE',
  envFile: '.env.enclave',
  log: 'enclave.log',
}

/** @throws MissingBuildError */
export function assertBuilt(): void {
  if (![SERVER.main, ENCLAVE.main].every(existsSync)) throw new MissingBuildError()
}

/** Starts the real server and resolves when it answers `/health`. It ends with this process, however that ends. */
export function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  return startProgram(SERVER, options)
}

/** The same for the enclave. It stops only once its runs have ended. */
export function startEnclaveProcess(options: Omit<ServerProcessOptions, 'narrate'>): Promise<ServerProcess> {
  return startProgram(ENCLAVE, { ...options, narrate: () => undefined })
}

async function startProgram(program: Program, options: ServerProcessOptions): Promise<ServerProcess> {
  const { directory, url, log = program.log, variables } = options
  const child = spawn(process.execPath, [program.main, ...program.arguments], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, [program.variable]: join(directory, program.envFile), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { pid } = child
  if (pid === undefined) throw new Error('the program could not be started')
  const release = killWithParent(pid)
  const exited = once(child, 'exit').then(release)
  record(child, join(directory, log), options)

  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await exited
    clearTimeout(timer)
  }
  try {
    await ready(url, child, log)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    pid,
    exited,
    stop,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Keeps all that the server prints, and hands it on: what is not its JSON log is narration. */
function record(
  child: ChildProcess,
  path: string,
  { narrate, logged }: Pick<ServerProcessOptions, 'narrate' | 'logged'>,
): void {
  const log = createWriteStream(path, { flags: 'a', mode: 0o600 })
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      log.write(`${line}\n`)
      if (!line.startsWith('{')) narrate(line)
      else logged?.(line)
    })
  }
  child.once('close', () => log.end())
}

async function ready(url: string, child: ChildProcess, log: string): Promise<void> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS
  while (Date.now() < giveUpAt) {
    if (child.exitCode !== null || child.signalCode !== null) break
    try {
      const response = await fetch(`${url}/health`)
      if (response.ok) return
    } catch {
      // Not listening yet.
    }
    await sleep(READY_POLL_MS)
  }
  throw new Error(`a program did not start: see ${log} in the sandbox directory`)
}
