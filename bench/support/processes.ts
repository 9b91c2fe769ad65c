import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { killWithParent } from '../../src/sandbox/killWithParent.js'
import { ROOT } from '../../src/sandbox/settings.js'

/** A program of the bench in a process of its own, asked over its channel: one question at a time. */
export interface Helper {
  readonly pid: number
  ask<T>(question: object, answer: z.ZodType<T>): Promise<T>
  stop(): Promise<void>
}

/** Starts a program that lies beside this file and calls `answerTasks`. It ends with `stop()`, or with this process. */
export function startHelper(program: string): Helper {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = fork(path, { execArgv: ['--import', 'tsx'], env: { PATH: process.env.PATH } })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} could not be started`)
  const exited = once(child, 'exit')
  const failure = async (): Promise<never> => {
    await exited
    throw new Error(`${program} ended with code ${child.exitCode}`)
  }
  return {
    pid,
    async ask(question, answer) {
      child.send(question)
      const [message] = await Promise.race([once(child, 'message'), failure()])
      return answer.parse(message)
    },
    async stop() {
      child.kill()
      await exited
    },
  }
}

/** The other end of `startHelper`. */
export function answerTasks<T>(schema: z.ZodType<T>, answer: (task: T) => Promise<object>): void {
  process.on('message', (message) => {
    void answer(schema.parse(message)).then((answered) => process.send?.(answered))
  })
  process.on('disconnect', () => process.exit(0))
}

const READY_TIMEOUT_MS = 20_000
const READY_POLL_MS = 50
/** More than the ten seconds that requests under way get. */
const STOP_TIMEOUT_MS = 20_000

export interface ServerProcess {
  readonly url: string
  readonly pid: number
  readonly child: ChildProcess
  stop(): Promise<void>
}

/**
 * Starts the compiled server and resolves when it answers. It ends with this process.
 *
 * @param options.directory for its log, which goes straight to a file, as on a real host: reading it would cost as much again
 * @param options.url where its configuration makes it listen
 */
export async function startServerProcess(options: {
  readonly directory: string
  readonly url: string
  readonly env: Record<string, string>
  readonly nodeOptions: readonly string[]
}): Promise<ServerProcess> {
  const { directory, url, env, nodeOptions } = options
  const log = openSync(join(directory, 'measured.log'), 'w', 0o600)
  const child = spawn(process.execPath, [...nodeOptions, join(ROOT, 'dist/server/main.js')], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  const { pid } = child
  if (pid === undefined) throw new Error('the server could not be started')
  const exited = once(child, 'exit').then(killWithParent(pid))
  const stop = async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await exited
    clearTimeout(timer)
    if (child.signalCode === 'SIGKILL')
      throw new Error(`the server did not stop: see ${directory}/measured.log`)
  }
  for (const giveUpAt = Date.now() + READY_TIMEOUT_MS; !(await isReady(url)); await sleep(READY_POLL_MS)) {
    if (Date.now() < giveUpAt && child.exitCode === null) continue
    await stop()
    throw new Error(`the server did not start: see ${directory}/measured.log`)
  }
  return { url, pid, child, stop }
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health`).catch(() => undefined)
  return response?.ok === true
}

const NS_PER_MS = 1e6
const QUIET_SHARE = 0.1
const QUIET_WINDOW_MS = 2_500
const QUIET_WINDOWS_MAX = 24

/**
 * Milliseconds that all threads of these processes have spent on a core, by the first field of Linux's `schedstat`. Unlike
 * requests per second it hardly depends on the machine's other work. NaN where the system has no such file.
 */
export async function cpuMs(...pids: readonly number[]): Promise<number> {
  const threads = await Promise.all(
    pids.map(async (pid) => {
      const tasks = await readdir(`/proc/${pid}/task`).catch(() => [''])
      return tasks.map((task) => `/proc/${pid}/task/${task}/schedstat`)
    }),
  )
  const times = threads.flat().map(async (path) => Number((await readFile(path, 'utf8')).split(' ')[0]))
  return (await Promise.all(times).catch(() => [Number.NaN])).reduce((sum, ns) => sum + ns, 0) / NS_PER_MS
}

/** Resolves when a process uses less than a tenth of a core, or after a minute. */
export async function untilQuiet(pid: number): Promise<void> {
  let before = await cpuMs(pid)
  for (let window = 0; window < QUIET_WINDOWS_MAX; window++) {
    await sleep(QUIET_WINDOW_MS)
    const now = await cpuMs(pid)
    if (now - before < QUIET_SHARE * QUIET_WINDOW_MS) return
    before = now
  }
}

export interface Memory {
  /** In use after a garbage collection. */
  readonly heapMiB: number
  readonly rssMiB: number
}

const MIB = 2 ** 20
const memorySchema = z.strictObject({ heapUsed: z.number(), rss: z.number() })

/** Reports the memory of the process that loads it, whose threads have no channel. The channel must not keep it running. */
const REPORTER = `process.on('message', () => {
  globalThis.gc()
  const { heapUsed, rss } = process.memoryUsage()
  process.send({ heapUsed, rss })
})
process.channel?.unref()`

/** Options of a Node process that `memoryOf` can ask. */
export const MEMORY_OPTIONS: readonly string[] = [
  '--expose-gc',
  '--import',
  `data:text/javascript,${encodeURIComponent(REPORTER)}`,
]

/** The memory that a process holds after a garbage collection. */
export async function memoryOf(child: ChildProcess): Promise<Memory> {
  child.send({})
  const [answer] = await once(child, 'message')
  const { heapUsed, rss } = memorySchema.parse(answer)
  return { heapMiB: heapUsed / MIB, rssMiB: rss / MIB }
}
