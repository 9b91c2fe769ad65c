import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { killWithParent } from '../../../src/sandbox/killWithParent.js'
import type { TestChain } from '../../support/chain.js'
import { chainEnvironment } from '../../support/intakeServer.js'
import { ENCLAVE_SIGNER, ROLES } from '../../support/roles.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { RELAY_SETTINGS } from './settings.js'
import type { Uptime } from './times.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MAIN = join(ROOT, 'dist/server/main.js')
const PRELOAD = new URL('stepPreload.mjs', import.meta.url).href

/** The real server, one process after the other on one directory. */
export interface RelayServer {
  /** Of the process that listens now. */
  url(): string | undefined
  /** On these nodes, in its order of preference. Resolves when it listens, or has ended before. */
  start(nodes: readonly number[], variables?: Record<string, string>): Promise<void>
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

export interface RelayServerOptions {
  readonly chain: TestChain
  /** Of its data and its log. */
  readonly directory: string
  /** Of each node. */
  readonly rpcUrls: readonly string[]
  /** Further ones of its environment. */
  readonly variables: Record<string, string>
}

export function createRelayServer(options: RelayServerOptions): RelayServer {
  const log = join(options.directory, 'server.log')
  const environment = environmentOf(options)
  const gaveUp: number[] = []
  const uptimes: { from: number; to?: number }[] = []
  let url: string | undefined
  let child: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()

  function launch(variables: Record<string, string>): ChildProcess {
    const started = spawn(process.execPath, ['--import', PRELOAD, MAIN], {
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
    async start(nodes, variables = {}) {
      const urls = nodes.map((node) => options.rpcUrls[node])
      child = launch({ RPC_URL: urls.join(), ...variables })
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

function environmentOf({ chain, directory, variables }: RelayServerOptions): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    ...SERVER_ENVIRONMENT,
    ...chainEnvironment(chain),
    ...RELAY_SETTINGS,
    DATA_DIR: join(directory, 'data'),
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
    ...variables,
  }
}
