import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { cpuMs } from './platformProcesses.js'

/** A server under load. */
export interface Target {
  readonly url: string
  readonly pid: number
}

/** Starts a program of this folder that calls `answerTasks`, as a separate process. It does one task at a time. */
export function startHelper(cleanUp: AsyncDisposableStack, program: string) {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = fork(path, { execArgv: ['--import', 'tsx'], env: { PATH: process.env.PATH } })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} could not be started`)
  const exited = once(child, 'exit')
  cleanUp.defer(async () => {
    child.kill()
    await exited
  })
  const failed = exited.then(([code]): never => {
    throw new Error(`${program} ended with code ${code}`)
  })
  failed.catch(() => undefined)
  return {
    pid,
    async ask<T>(task: object, answer: z.ZodType<T>): Promise<T> {
      child.send(task)
      const [message] = await Promise.race([once(child, 'message'), failed])
      return answer.parse(message)
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

const TICK_MS = 10
const STEAL_FIELD = 8

/**
 * Milliseconds in which a core of this virtual machine had work while the host ran something else, summed over all cores since
 * the start: `steal` in Linux's `/proc/stat`. NaN where the system has no such file.
 */
export async function stolenMs(): Promise<number> {
  const stat = await readFile('/proc/stat', 'utf8').catch(() => '')
  return Number(stat.split(/\s+/, STEAL_FIELD + 1)[STEAL_FIELD]) * TICK_MS
}

const QUIET_SHARE = 0.1
const QUIET_WINDOW_MS = 2_500
const QUIET_WINDOWS_MAX = 24

/** Resolves when each of these servers uses less than a tenth of a core on average, or after a minute. */
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
