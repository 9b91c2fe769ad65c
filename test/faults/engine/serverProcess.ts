import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { killWithParent } from '../../../src/sandbox/killWithParent.js'
import { runtimeEnvironment } from '../../support/runtimeEnvironment.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MAIN = join(ROOT, 'dist/server/main.js')

/** Settings of servers in storms: impatient, so that their patience fits many times into a run. */
export const IMPATIENT_SETTINGS = {
  RPC_TIMEOUT: '1s',
  RELAY_RESUBMIT_AFTER: '2s',
  // A storm has few accounts, and many orders of each.
  RELAY_ACCOUNT_DAILY_GAS: '5000000000',
  // All callers of a storm share one address, and ask for their receipts at once.
  MAX_CONNECTIONS: '15000',
  LOG_LEVEL: 'info',
}

/** From the start of a process to its end, by `performance.now()`. */
export interface Uptime {
  readonly from: number
  readonly to: number
}

/** The real server, one process after the other on one directory. */
export interface ServerUnderFaults {
  /** The URL of the process that listens now. */
  url(): string | undefined
  /** Resolves when it listens, or has ended before. */
  start(variables?: Record<string, string>): Promise<void>
  /** Sends SIGKILL, and resolves when the process has ended. */
  kill(): Promise<void>
  /** Sends the process a signal, if there is one. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void
  /** Resolves when the process of the last start has ended. */
  ended(): Promise<void>
  /** Lists every process so far. One that has not ended yet is up until now. */
  uptimes(): Uptime[]
  /** Exit codes of processes that ended by themselves. */
  readonly gaveUp: readonly number[]
  /** The file of its log lines. */
  readonly log: string
}

export interface ServerOptions {
  /** Keeps its log. */
  readonly directory: string
  /** Its environment, beside the search path. */
  readonly environment: Record<string, string>
  /** A module's URL, loaded before the server's own. */
  readonly preload: string
  /** Gets each line that the server prints. */
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
      env: { ...runtimeEnvironment(), ...environment, ...variables },
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

/** Adds up the milliseconds of the span in which a server was up. */
export function uptimeWithin(uptimes: readonly Uptime[], span: Uptime): number {
  const parts = uptimes.map(({ from, to }) => Math.min(to, span.to) - Math.max(from, span.from))
  return parts.reduce((sum, part) => sum + Math.max(0, part), 0)
}

/** Resolves with the URL that the process logs when it listens. Every line is kept. */
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
