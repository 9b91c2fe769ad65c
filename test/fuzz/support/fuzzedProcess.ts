import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { killWithParent } from '../../../src/sandbox/killWithParent.js'
import { built } from '../../support/built.js'
import { runtimeEnvironment } from '../../support/runtimeEnvironment.js'
import type { Service } from './apiRoutes.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const REPORTER = new URL('reporter.mjs', import.meta.url).href

const heldSchema = z.strictObject({
  heapUsed: z.number(),
  external: z.number(),
  arrayBuffers: z.number(),
  rss: z.number(),
  handles: z.number(),
  descriptors: z.number(),
})
/** Bytes, active handles and open file descriptors of the process after a garbage collection. */
export type Held = z.output<typeof heldSchema>

/** The real server, or its enclave that stays up, as a process of its own. */
export interface FuzzedProcess {
  readonly port: number
  readonly pid: number
  /** undefined once the process is gone. */
  held(): Promise<Held | undefined>
  /** Log lines that no request may cause, and an end of the process that the test did not ask for. */
  readonly faults: readonly string[]
  stop(): Promise<void>
}

const PROGRAMS: Readonly<Record<Service, () => string>> = {
  server: () => built('server/main.js'),
  enclave: () => fileURLToPath(new URL('../../support/enclaves/scriptedResident.mjs', import.meta.url)),
}
const LAST_WORDS = 20

/**
 * Resolves when it listens. Ends with this process at the latest.
 * @param options.directory of its log
 */
export async function startFuzzedProcess(options: {
  readonly name: Service
  readonly env: Record<string, string>
  readonly directory: string
}): Promise<FuzzedProcess> {
  const { name, env, directory } = options
  const program = PROGRAMS[name]()
  const child = spawn(process.execPath, ['--expose-gc', '--import', REPORTER, program], {
    cwd: ROOT,
    env: { ...runtimeEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  if (child.pid === undefined) throw new Error(`the ${name} could not be started`)
  const exited = once(child, 'exit').then(killWithParent(child.pid))
  const faults: string[] = []
  const lastWords: string[] = []
  let isStopping = false
  // Once all that it has written is read, unlike `exit`.
  const gone = once(child, 'close').then(([code, signal]) => {
    if (!isStopping) faults.push(`the ${name} ended by itself: ${endOf(code, signal, lastWords)}`)
  })
  const log = createLog(join(directory, `${name}.log`), faults, lastWords)
  const port = await Promise.race([
    listening(child, log),
    gone.then(() => Promise.reject(new Error(faults.join()))),
  ])
  return {
    port,
    pid: child.pid,
    faults,
    async held() {
      if (!child.connected) return gone.then(() => undefined)
      // `gone` reports a process that ends just now.
      child.send({}, () => undefined)
      const [message] = await Promise.race([once(child, 'message'), gone.then(() => [undefined])])
      return heldSchema.optional().parse(message)
    },
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      await exited
      if (child.exitCode !== 0) faults.push(`the ${name} did not stop: ${child.exitCode ?? child.signalCode}`)
    },
  }
}

/** @param code, signal of the process @returns both, and what it wrote last to its standard error */
function endOf(code: unknown, signal: unknown, lastWords: readonly string[]): string {
  return [`exit code ${code}, signal ${signal}, after`, ...lastWords].join('\n    ')
}

/** Takes a line of the server's. */
type Log = (line: string, isError: boolean) => void

/** Keeps every line but those of requests in the file, and the last ones of standard error besides. */
function createLog(file: string, faults: string[], lastWords: string[]): Log {
  return (line, isError) => {
    if (line.includes('"msg":"request"')) return
    appendFileSync(file, `${line}\n`)
    if (!isError) return
    lastWords.push(line)
    if (lastWords.length > LAST_WORDS) lastWords.shift()
    if (isFault(line)) faults.push(line)
  }
}

/** Resolves with the port that it says it listens on. */
function listening({ stdout, stderr }: ChildProcess, log: Log): Promise<number> {
  return new Promise((resolve) => {
    for (const stream of [stdout, stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        log(line, stream === stderr)
        const port = /"port":(\d+).*"(?:listening|enclave started)"/.exec(line)?.[1]
        if (port !== undefined) resolve(Number(port))
      })
    }
  })
}

/** Defects, and whatever is no line of the log. Runs crash in the enclave by plan. */
function isFault(line: string): boolean {
  if (!line.startsWith('{"')) return true
  const isRun = /"msg":"(?:order|enclave) run ended"/.test(line)
  return !isRun && /internal-error|uncaught|not handled|did not stop|set aside/.test(line)
}
