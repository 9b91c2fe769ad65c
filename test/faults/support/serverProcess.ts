import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { killWithParent } from '../../../src/sandbox/killWithParent.js'
import type { Uptime } from './times.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MAIN = join(ROOT, 'dist/server/main.js')

/** The real server, one process after the other on one directory. */
export interface ServerUnderFaults {
  /** Of the process that listens now. */
  url(): string | undefined
  /** Resolves when it listens, or has ended before. */
  start(variables?: Record<string, string>): Promise<void>
  /** Without warning. */
  kill(): Promise<void>
  /** Sends the process a signal, if there is one. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void
  /** Resolves when the process of the last start has ended. */
  ended(): Promise<void>
  /** Of every process so far. One that has not ended yet is up until now. */
  uptimes(): Uptime[]
  /** Exit codes of processes that nobody has killed. */
  readonly gaveUp: readonly number[]
  /** The file of everything that it said. */
  readonly log: string
}

export interface ServerOptions {
  /** Of its log. */
  readonly directory: string
  /** All of its environment. */
  readonly environment: Record<string, string>
  /** A module's URL, loaded before the server's own. */
  readonly preload: string
  /** Gets each line that the server says. */
  readonly heard?: (line: string) => void
}

export function createServerUnderFaults(options: ServerOptions): ServerUnderFaults {
  const { directory, environment, preload, heard = () => undefined } = options
  const log = join(directory, 'server.log')
  const gaveUp: number[] = []
  const uptimes: { from: number; to?: number }[] = []
  let url: string | undefined
  let child: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()

  function launch(variables: Record<string, string>): ChildProcess {
    const started = spawn(process.execPath, ['--import', preload, MAIN], {
      cwd: ROOT,
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const uptime: { from: number; to?: number } = { from: performance.now() }
    uptimes.push(uptime)
    const release = started.pid === undefined ? () => undefined : killWithParent(started.pid)
    ended = once(started, 'exit').then(() => {
      url = undefined
      uptime.to = performance.now()
      release()
      if (started.exitCode !== null) gaveUp.push(started.exitCode)
    })
    return started
  }

  return {
    url: () => url,
    async start(variables = {}) {
      child = launch(variables)
      url = await Promise.race([listening(child, log, heard), ended.then(() => undefined)])
    },
    async kill() {
      child?.kill('SIGKILL')
      await ended
    },
    signal(signal) {
      child?.kill(signal)
    },
    ended: () => ended,
    uptimes: () => uptimes.map(({ from, to = performance.now() }) => ({ from, to })),
    gaveUp,
    log,
  }
}

/** The URL that the process says it listens on. Everything that it says is kept. */
function listening(
  { stdout, stderr }: ChildProcess,
  log: string,
  heard: (line: string) => void,
): Promise<string> {
  return new Promise((resolve) => {
    for (const input of [stdout, stderr]) {
      if (input === null) continue
      createInterface({ input }).on('line', (line) => {
        appendFileSync(log, `${line}\n`)
        heard(line)
        const port = /"port":(\d+).*"listening"/.exec(line)?.[1]
        if (port !== undefined) resolve(`http://127.0.0.1:${port}`)
      })
    }
  })
}
