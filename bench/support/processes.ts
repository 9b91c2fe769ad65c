import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'

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

/** A server that is measured. */
export interface Target {
  readonly url: string
  readonly pid: number
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

const TICK_MS = 10
const STEAL_FIELD = 8

/**
 * Milliseconds in which a core of this virtual machine had work and the host ran something else, over all cores since the
 * start: `steal` in Linux's `/proc/stat`. NaN where the system has no such file.
 */
export async function stolenMs(): Promise<number> {
  const stat = await readFile('/proc/stat', 'utf8').catch(() => '')
  return Number(stat.split(/\s+/, STEAL_FIELD + 1)[STEAL_FIELD]) * TICK_MS
}

/** Resolves when a server uses less than a tenth of a core, on average, or after a minute. */
export async function untilQuiet(...targets: readonly Target[]): Promise<void> {
  const pids = targets.map(({ pid }) => pid)
  let before = await cpuMs(...pids)
  for (let window = 0; window < QUIET_WINDOWS_MAX; window++) {
    await sleep(QUIET_WINDOW_MS)
    const now = await cpuMs(...pids)
    if (now - before < QUIET_SHARE * QUIET_WINDOW_MS * pids.length) return
    before = now
  }
}
