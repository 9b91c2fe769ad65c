import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createWriteStream, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from '../terminal/failure.js'
import { endProcess, killWithParent } from './killWithParent.js'
import { ATTESTED_ENCLAVE, PAGES, ROOT } from './settings.js'

const READY_TIMEOUT_MS = 90_000
/** A question costs 3 ms of CPU, which the programs that start need. */
const READY_POLL_MS = 200
const STOP_TIMEOUT_MS = 15_000
/** A sandbox that runs for days leaves the machine to others: by default Node lets garbage grow with the machine's memory. */
export const HEAP_BOUNDS = ['--max-old-space-size=384', '--max-semi-space-size=8']

/** The programs, each with the variable that names its configuration. */
const PROGRAMS = {
  server: { main: 'dist/server/main.js', args: [], env: ['ENV_FILE', '.env'] },
  enclave: { main: 'dist/enclave/main.js', args: ['serve'], env: ['ENCLAVE_ENV_FILE', '.env.enclave'] },
} as const

/** @throws CommandError `build-missing` where the programs, or the page if it is served, are not built yet */
export function assertBuilt(isPageServed: boolean): void {
  const programs = [join(ROOT, PROGRAMS.server.main), join(ROOT, PROGRAMS.enclave.main), ATTESTED_ENCLAVE]
  const pages = isPageServed ? Object.values(PAGES).map((folder) => join(folder, 'index.html')) : []
  const missing = (text: string) =>
    new CommandError('build-missing', `${text} first (\`npm run sandbox\` does)`)
  if (!programs.every(existsSync)) throw missing('the programs are not built: run `npm run build`')
  if (!pages.every(existsSync)) throw missing('the page is not built: run `npm run build:web`')
}

export type ServerProcess = Awaited<ReturnType<typeof startProcess>>

/**
 * Starts the real server, or the enclave, which stops only once its runs have ended. Resolves when it answers `/health`. It ends
 * with this process, even if that is killed.
 */
export async function startProcess(
  name: keyof typeof PROGRAMS,
  options: {
    /** Holds the program's env file and log. */
    directory: string
    url: string
    /** Called with each line of the server's narration. Without it the process writes its log itself, as on a real host. */
    narrate?: (line: string) => void
    /** A file in place of the built program. */
    main?: string | undefined
    /** Override the variables of the env file. */
    variables?: Record<string, string>
    nodeOptions?: readonly string[]
  },
) {
  const program = PROGRAMS[name]
  const { directory, url, narrate, main = join(ROOT, program.main), variables, nodeOptions = [] } = options
  const path = join(directory, `${name}.log`)
  const output = narrate ? 'pipe' : openSync(path, 'a', 0o600)
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...HEAP_BOUNDS, ...nodeOptions, main, ...program.args], {
    cwd: ROOT,
    env: {
      PATH,
      NODE_COMPILE_CACHE,
      // Threads that allocate seldom need no arena each.
      MALLOC_ARENA_MAX: '1',
      [program.env[0]]: join(directory, program.env[1]),
      ...variables,
    },
    stdio: ['ignore', output, output],
  })
  killWithParent(child)
  if (typeof output === 'number') closeSync(output)
  const exited = once(child, 'exit')
  if (narrate) record(child, path, narrate)

  const stop = () => endProcess(child, STOP_TIMEOUT_MS)
  if (!(await untilOk(`${url}/health`, () => child.exitCode !== null || child.signalCode !== null))) {
    await stop()
    throw new Error(`a program did not start; see ${name}.log in the sandbox directory`)
  }
  return {
    pid: child.pid ?? 0,
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
    const answer = await fetch(url, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) }).catch(() => undefined)
    if (answer?.ok) return true
    // It may not listen yet.
    await sleep(READY_POLL_MS)
  }
  return false
}
