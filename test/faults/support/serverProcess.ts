import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
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
}

export function createServerUnderFaults(options: ServerOptions): ServerUnderFaults {
  const { directory, environment, preload } = options
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
      url = await Promise.race([listening(child, log), ended.then(() => undefined)])
    },
    async kill() {
      child?.kill('SIGKILL')
      await ended
    },
    ended: () => ended,
    uptimes: () => uptimes.map(({ from, to = performance.now() }) => ({ from, to })),
    gaveUp,
    log,
  }
}

/** The URL that the process says it listens on. Everything that it says is kept. */
function listening({ stdout, stderr }: ChildProcess, log: string): Promise<string> {
  return new Promise((resolve) => {
    let output = ''
    let isFound = false
    for (const stream of [stdout, stderr]) {
      stream?.setEncoding('utf8').on('data', (part: string) => {
        appendFileSync(log, part)
        if (isFound) return
        output += part
        const port = /"port":(\d+).*"listening"/.exec(output)?.[1]
        if (port === undefined) return
        isFound = true
        resolve(`http://127.0.0.1:${port}`)
      })
    }
  })
}
