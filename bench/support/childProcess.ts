import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'

/** A program of the bench in a process of its own, asked over its channel: one question at a time. */
export interface Helper {
  readonly pid: number
  ask<T>(question: unknown, answer: z.ZodType<T>): Promise<T>
  stop(): Promise<void>
}

/** Starts a program that lies beside this file. It ends with `stop()`, or when this process does. */
export function startHelper(program: string): Helper {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = fork(path, { execArgv: ['--import', 'tsx'], env: { PATH: process.env.PATH } })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} could not be started`)
  const exited = once(child, 'exit')
  return {
    pid,
    async ask(question, answer) {
      child.send(toMessage(question))
      const [message] = await Promise.race([once(child, 'message'), failure(child, exited, program)])
      return answer.parse(message)
    },
    async stop() {
      child.kill()
      await exited
    },
  }
}

function toMessage(question: unknown): object {
  if (typeof question !== 'object' || question === null) throw new TypeError('a question is an object')
  return question
}

async function failure(child: ChildProcess, exited: Promise<unknown>, program: string): Promise<never> {
  await exited
  throw new Error(`${program} ended with code ${child.exitCode}`)
}
