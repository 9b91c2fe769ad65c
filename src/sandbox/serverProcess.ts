import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createWriteStream, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from '../terminal/failure.js'
import { endProcess, killWithParent } from './killWithParent.js'
import { ROOT } from './settings.js'

const READY_TIMEOUT_MS = 90_000
/** A question costs 3 ms of CPU, which the programs that start need. */
const READY_POLL_MS = 200
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

interface ProgramOptions {
  /** Holds the program's env file and log. */
  directory: string
  url: string
  /** Called with each line of the server's narration. Without it the process writes its log itself, as on a real host. */
  narrate?: (line: string) => void
  /** A file in place of the built program. */
  main?: string
  /** The log's file name. */
  log?: string
  /** Override the variables of the env file. */
  variables?: Record<string, string>
  nodeOptions?: readonly string[]
}

/** The build of the attested enclave that knows the sandbox's device. */
export const ATTESTED_ENCLAVE = join(ROOT, 'dist/sandbox/attestedEnclave.js')

const OF_ENCLAVE = { arguments: ['serve'], variable: 'ENCLAVE_ENV_FILE', envFile: '.env.enclave' }
/** The programs, each with the variable that names its configuration. */
const PROGRAMS = {
  server: { main: join(ROOT, 'dist/server/main.js'), arguments: [], variable: 'ENV_FILE', envFile: '.env' },
  enclave: { main: join(ROOT, 'dist/enclave/main.js'), ...OF_ENCLAVE },
  attestedEnclave: { main: ATTESTED_ENCLAVE, ...OF_ENCLAVE },
}

/** @throws CommandError `build-missing` */
export function assertBuilt(): void {
  if (!Object.values(PROGRAMS).every(({ main }) => existsSync(main))) throw buildMissing()
}

/**
 * Starts the real server, or the enclave, which stops only once its runs have ended. Resolves when it answers `/health`. It ends
 * with this process, even if that is killed.
 */
export async function startProcess(name: keyof typeof PROGRAMS, options: ProgramOptions) {
  const program = PROGRAMS[name]
  const { directory, url, main = program.main, log = `${name}.log`, variables, nodeOptions = [] } = options
  const path = join(directory, log)
  const output = options.narrate ? 'pipe' : openSync(path, 'a', 0o600)
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...HEAP_BOUNDS, ...nodeOptions, main, ...program.arguments], {
    cwd: ROOT,
    env: {
      PATH,
      NODE_COMPILE_CACHE,
      // Threads that allocate seldom need no arena each.
      MALLOC_ARENA_MAX: '1',
      [program.variable]: join(directory, program.envFile),
      ...variables,
    },
    stdio: ['ignore', output, output],
  })
  killWithParent(child)
  if (typeof output === 'number') closeSync(output)
  const { pid } = child
  if (pid === undefined) throw new Error('the program could not be started')
  const exited = once(child, 'exit')
  if (options.narrate) record(child, path, options.narrate)

  const stop = () => endProcess(child, STOP_TIMEOUT_MS)
  if (!(await untilOk(`${url}/health`, () => child.exitCode !== null || child.signalCode !== null))) {
    await stop()
    throw new Error(`a program did not start; see ${log} in the sandbox directory`)
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

export type ServerProcess = Awaited<ReturnType<typeof startProcess>>

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

/** Whether it answers with a success in time. */
export async function untilOk(url: string, isOver = () => false): Promise<boolean> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS
  while (Date.now() < giveUpAt && !isOver()) {
    // It may not listen yet.
    const signal = AbortSignal.timeout(READY_TIMEOUT_MS)
    if (
      await fetch(url, { signal }).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return true
    await sleep(READY_POLL_MS)
  }
  return false
}
