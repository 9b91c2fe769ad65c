import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { killWithParent } from '../../src/sandbox/killWithParent.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { ROOT } from '../../src/sandbox/settings.js'

const READY_TIMEOUT_MS = 20_000
const READY_POLL_MS = 50
/** More than the ten seconds that requests under way get. */
const STOP_TIMEOUT_MS = 20_000

/** The server under measurement. */
export interface OurServer {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/**
 * Starts the compiled server in the place of the sandbox's own, with its configuration. Its log goes straight to a
 * file, as it does on a real host: the sandbox reads every line, which would cost the machine as much again.
 *
 * @param nodeOptions of its process, such as `--cpu-prof`
 */
export async function startOurServer(sandbox: Sandbox, nodeOptions: readonly string[]): Promise<OurServer> {
  await sandbox.server().stop()
  const log = openSync(join(sandbox.directory, 'measured.log'), 'w', 0o600)
  const child = spawn(process.execPath, [...nodeOptions, join(ROOT, 'dist/server/main.js')], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ENV_FILE: join(sandbox.directory, '.env') },
    stdio: ['ignore', log, log],
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
    if (child.signalCode === 'SIGKILL') throw new Error('the server did not stop: see measured.log')
  }
  try {
    await ready(sandbox.info.url, child)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: sandbox.info.url, pid, stop }
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS
  while (Date.now() < giveUpAt && child.exitCode === null) {
    try {
      const response = await fetch(`${url}/health`)
      if (response.ok) return
    } catch {
      // Not listening yet.
    }
    await sleep(READY_POLL_MS)
  }
  throw new Error('the server did not start: see measured.log in the bench directory')
}
