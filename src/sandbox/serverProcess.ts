import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createWriteStream, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from '../terminal/failure.js'
import { killWithParent } from './killWithParent.js'
import { ROOT } from './settings.js'

const READY_TIMEOUT_MS = 90_000
const READY_POLL_MS = 50
const STOP_TIMEOUT_MS = 15_000
/**
 * Bounds of each program's heap, so that a sandbox that runs for days leaves the machine to others: by default Node lets garbage grow
 * with the machine's memory.
 */
export const HEAP_BOUNDS = ['--max-old-space-size=384', '--max-semi-space-size=8']

/** The programs or the page are not built yet. */
export function buildMissing(what = 'the programs are', command = 'npm run build'): CommandError {
  const text = `${what} not built: run \`${command}\` first (\`npm run sandbox\` does)`
  return new CommandError('build-missing', text)
}

interface ServerProcessOptions {
  /** Holds the program's env file and log. */
  directory: string
  url: string
  /** Called with each line of the server's narration. Without it the process writes its log itself, as on a real host. */
  narrate?: (line: string) => void
  /** The log's file name in the directory. */
  log?: string
  /** Override the variables of the env file. */
  variables?: Record<string, string>
  /** Options of the process's Node, such as `--cpu-prof`. */
  nodeOptions?: readonly string[]
}

/** The programs, each with the variable that names its configuration. */
const SERVER = {
  main: join(ROOT, 'dist/server/main.js'),
  arguments: [],
  variable: 'ENV_FILE',
  envFile: '.env',
  log: 'server.log',
}
const ENCLAVE = {
  main: join(ROOT, 'dist/enclave/main.js'),
  arguments: ['serve'],
  variable: 'ENCLAVE_ENV_FILE',
  envFile: '.env.enclave',
  log: 'enclave.log',
}

/** @throws CommandError `build-missing` */
export function assertBuilt(): void {
  if (![SERVER.main, ENCLAVE.main].every(existsSync)) throw buildMissing()
}

/** Starts the real server and resolves when it answers `/health`. It ends with this process, even if that is killed. */
export function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  return startProgram(SERVER, options)
}

/** Starts the enclave likewise. It stops only once its runs have ended. */
export function startEnclaveProcess(options: Omit<ServerProcessOptions, 'narrate'>): Promise<ServerProcess> {
  return startProgram(ENCLAVE, { ...options, narrate: () => undefined })
}

async function startProgram(program: typeof SERVER | typeof ENCLAVE, options: ServerProcessOptions) {
  const { directory, url, log = program.log, variables, nodeOptions = [] } = options
  const output = options.narrate ? 'pipe' : openSync(join(directory, log), 'a', 0o600)
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const NODE_OPTIONS = HEAP_BOUNDS.join(' ')
  const child = spawn(process.execPath, [...nodeOptions, program.main, ...program.arguments], {
    cwd: ROOT,
    env: {
      PATH,
      NODE_COMPILE_CACHE,
      NODE_OPTIONS,
      // Threads that allocate seldom need no arena each.
      MALLOC_ARENA_MAX: '1',
      [program.variable]: join(directory, program.envFile),
      ...variables,
    },
    stdio: ['ignore', output, output],
  })
  if (typeof output === 'number') closeSync(output)
  const { pid } = child
  if (pid === undefined) throw new Error('the program could not be started')
  const release = killWithParent(pid)
  const exited = once(child, 'exit').then(release)
  if (options.narrate) record(child, join(directory, log), options.narrate)

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
    /** Resolves when the process has exited. */
    exited,
    /** Sends SIGTERM, then SIGKILL after a timeout. Resolves when the process has exited. */
    stop,
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await exited
    },
  }
}

export type ServerProcess = Awaited<ReturnType<typeof startProgram>>

/** Logs every line of the server and forwards it: lines that are not JSON log lines are narration. */
function record(child: ChildProcess, path: string, narrate: (line: string) => void): void {
  const log = createWriteStream(path, { flags: 'a', mode: 0o600 })
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      log.write(`${line}\n`)
      if (!line.startsWith('{')) narrate(line)
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
  throw new Error(`a program did not start; see ${log} in the sandbox directory`)
}
