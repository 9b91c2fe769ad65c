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
 * Starts the compiled server in the place of the sandbox's own, with its configuration.
 *
 * @param nodeOptions of its process, such as `--cpu-prof`
 */
export async function startOurServer(sandbox: Sandbox, nodeOptions: readonly string[]): Promise<OurServer> {
  await sandbox.server().stop()
  const { directory, info } = sandbox
  const env = { ENV_FILE: join(directory, '.env') }
  const { child, stop } = await startServerProcess({ directory, url: info.url, env, nodeOptions })
  return { url: info.url, pid: child.pid, stop }
}

export interface ServerProcessOptions {
  /** Where its log goes, which is straight to a file, as on a real host: reading it would cost as much again. */
  readonly directory: string
  /** Where its configuration makes it listen. */
  readonly url: string
  readonly env: Record<string, string>
  readonly nodeOptions: readonly string[]
}

export interface ServerProcess {
  readonly child: ChildProcess & { readonly pid: number }
  stop(): Promise<void>
}

/** Starts the compiled server and resolves when it answers. It ends with this process. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const log = openSync(join(options.directory, 'measured.log'), 'w', 0o600)
  const child = spawn(process.execPath, [...options.nodeOptions, join(ROOT, 'dist/server/main.js')], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...options.env },
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
    if (child.signalCode === 'SIGKILL') throw new Error('the server did not stop: see measured.log')
  }
  try {
    await ready(options.url, child)
  } catch (error) {
    await stop()
    throw error
  }
  return { child: Object.assign(child, { pid }), stop }
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
