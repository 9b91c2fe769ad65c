import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { runtimeEnvironment } from './runtimeEnvironment.js'

/** A program of this project under way, killed with its test at the latest. */
export type Program = ReturnType<typeof startProgram>

interface ProgramOptions {
  readonly env?: Record<string, string>
  readonly cwd?: string
  readonly input?: string
  /** The Node that runs it; this process's own by default. */
  readonly node?: string | undefined
}

/**
 * Starts a program in a process group of its own, as a terminal does, with none of this process's environment but
 * the search path and the compile cache.
 */
export function startProgram(path: string, args: readonly string[], options: ProgramOptions = {}) {
  const { env, cwd, input = '', node = process.execPath } = options
  const child = spawn(node, [path, ...args], {
    cwd,
    detached: true,
    env: { ...runtimeEnvironment(), ...env },
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    out += part
  })
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    err += part
  })
  child.stdin.on('error', () => undefined).end(input)
  const exit = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  return {
    child,
    /** Its output so far. */
    out: () => out,
    err: () => err,
    /** The exit code, null after a signal. */
    exit,
  }
}
