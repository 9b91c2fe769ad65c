import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { killWithParent } from '../../src/sandbox/killWithParent.js'
import { ROOT } from '../../src/sandbox/settings.js'
import { runtimeEnvironment } from '../support/runtimeEnvironment.js'

const RESTART_MS = 500
const CHECK_MS = 20

interface KeptProgramOptions {
  /** The arguments of Node. */
  readonly args: readonly string[]
  /** Beside the search path. */
  readonly variables: (life: number) => Record<string, string>
  /** The file of what it prints. */
  readonly log: string
  readonly heard?: (line: string) => void
  /** Called when a process has ended that was not asked to, or could not: with its exit code, where no signal has ended it. */
  readonly onDeath?: (death: { life: number; from: number; code: number | null }) => void
}

/** A program that is started again whenever it has ended. */
export function keepProgram({ args, variables, log, heard, onDeath }: KeptProgramOptions) {
  const ending = new AbortController()
  let child: ChildProcess | undefined
  let url: string | undefined
  let life = 0
  let isAsked = false

  function read(line: string): void {
    appendFileSync(log, `${line}\n`)
    heard?.(line)
    const port = /"port":(\d+).*"server started"/.exec(line)?.[1]
    if (port !== undefined) url = `http://127.0.0.1:${port}`
  }

  async function live(): Promise<void> {
    while (!ending.signal.aborted) {
      life++
      isAsked = false
      const from = performance.now()
      child = spawn(process.execPath, [...args], {
        cwd: ROOT,
        env: { ...runtimeEnvironment(), ...variables(life) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      for (const input of [child.stdout, child.stderr]) {
        if (input !== null) createInterface({ input }).on('line', read)
      }
      killWithParent(child)
      const closed = once(child, 'close')
      await once(child, 'exit')
      url = undefined
      // Its last words may arrive after its end, but not those of an enclave that it has left behind.
      await Promise.race([closed, sleep(RESTART_MS)])
      const { exitCode: code } = child
      if (!ending.signal.aborted && !(isAsked && code === 0)) onDeath?.({ life, from, code })
      await sleep(RESTART_MS, undefined, { signal: ending.signal }).catch(() => undefined)
    }
  }
  const living = live()

  /** SIGKILL. Resolves when the process has ended. */
  async function kill(): Promise<void> {
    const killed = child
    if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return
    killed.kill('SIGKILL')
    await once(killed, 'exit')
  }

  return {
    /** The number of its current process, from 1. */
    life: () => life,
    /** The URL of the process that listens now. */
    url: () => url,
    kill,
    /** Kills it, and again so long after the next start. */
    async killTwice(afterMs: number) {
      const before = life
      await kill()
      while (life === before && !ending.signal.aborted) await sleep(CHECK_MS)
      await sleep(afterMs)
      await kill()
    },
    async pause(forMs: number) {
      child?.kill('SIGSTOP')
      await sleep(forMs)
      child?.kill('SIGCONT')
    },
    /** SIGTERM. */
    stop() {
      isAsked = true
      child?.kill('SIGTERM')
    },
    /** Ends the current process, and starts no other. */
    async end() {
      ending.abort()
      await kill()
      await living
    },
  }
}
