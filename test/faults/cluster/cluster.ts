import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBalancer } from '../../../src/sandbox/balancer.js'
import { killWithParent } from '../../../src/sandbox/killWithParent.js'
import { claimPorts } from '../../../src/sandbox/ports.js'
import { ROOT } from '../../../src/sandbox/settings.js'
import { eventually } from '../../support/eventually.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { type Desk, startDesk } from '../orders/platform.js'
import { type FaultyNodes, startFaultyNodes } from '../support/faultyNodes.js'
import { createServerUnderFaults, type ServerUnderFaults } from '../support/serverProcess.js'
import { ask } from './audit.js'
import { type ClusterDatabase, startClusterDatabase } from './database.js'
import { type ClusterPlan, SERVERS } from './plan.js'
import type { Broadcast, Death } from './verdicts.js'

/** One of the servers: started again whenever it has ended. */
export interface ClusterServer {
  /** Of the process that runs now, as its connections to the database are named. */
  name(): string
  kill(): Promise<void>
  /** SIGSTOP, and SIGCONT after a while. */
  pause(forMs: number): Promise<void>
  /** Between it and the database. */
  readonly proxy: TcpProxy
}

/** Three servers behind a balancer, their database and its standby, the nodes, and an enclave. */
export interface Cluster {
  readonly desk: Desk
  readonly database: ClusterDatabase
  readonly nodes: FaultyNodes
  readonly servers: readonly ClusterServer[]
  readonly broadcasts: readonly Broadcast[]
  readonly deaths: readonly Death[]
  /** What the servers have narrated, line by line. */
  readonly told: readonly string[]
  /** Connections go to the current primary from now on. */
  followPrimary(): void
  faults(): string[]
  stop(): Promise<void>
}

export interface ClusterOptions {
  readonly plan: ClusterPlan
  readonly directory: string
  readonly leaseTtlMs: number
  readonly mayMount: boolean
  /** Further variables of every server. */
  readonly variables: Record<string, string>
}

const PRELOAD = new URL('process/preload.mjs', import.meta.url).href
const ENCLAVE_PRELOAD = new URL('../orders/process/ownEnclave.mjs', import.meta.url).href
const RUN_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const RESTART_MS = 1_000

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { plan, directory, leaseTtlMs, mayMount, variables } = options
  const [desk, database, ports] = await Promise.all([
    startDesk(directory),
    startClusterDatabase(mayMount),
    claimPorts({ server: 0, rpc: 0, broker: 0, enclave: 0 }, SERVERS),
  ])
  const { sandbox, bench } = desk
  for (const name of ['server-acts', 'server-acted']) await mkdir(join(bench, name))
  const broadcasts: Broadcast[] = []
  const deaths: Death[] = []
  const told: string[] = []
  const mistakes: string[] = []
  const nodes = await startFaultyNodes({
    target: sandbox.info.rpcUrl,
    plan: plan.nodes,
    isLegacy: false,
    onlooker: {
      leaves: ({ from, nonce, serialized, data }) => {
        broadcasts.push({ at: Date.now(), from: from ?? '', nonce, raw: serialized, data })
      },
      passed: async () => undefined,
      mistook: (words) => mistakes.push(words),
    },
  })
  const enclaveUrl = `http://127.0.0.1:${ports.enclave}`
  const environment = {
    PATH: process.env.PATH ?? '',
    ENV_FILE: await writeEnvFile(desk),
    RPC_URL: nodes.urls.join(','),
    LEASE_TTL: `${leaseTtlMs}ms`,
    TRUST_PROXY: '1',
    ENCLAVE_TRIGGER: 'http',
    ENCLAVE_URL: enclaveUrl,
    ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
    NARRATOR_INTERVAL: '200ms',
    NARRATOR_FORMAT: 'json',
    FAULTS_CLOCK: join(bench, 'clock'),
    FAULTS_BENCH: bench,
    ...variables,
  }
  const stopping = new AbortController()
  const around = { directory, environment, database, deaths, told, stopping: stopping.signal }
  const servers = await Promise.all(ports.servers.map((port, number) => keepServer(number, port, around)))
  const enclave = keepEnclave(desk, new URL(enclaveUrl).host, stopping.signal)
  const balancer = await startBalancer(
    Number(new URL(sandbox.info.url).port),
    ports.servers.map(({ port }) => `http://127.0.0.1:${port}`),
  )
  await eventually('all servers to listen', () => servers.every(({ isUp }) => isUp()))
  await eventually('the narration to begin', async () => {
    const rows = await ask(database.url(), "SELECT FROM state WHERE id = 'narrator'")
    return rows.length === 1
  })
  return {
    desk,
    database,
    nodes,
    servers,
    broadcasts,
    deaths,
    told,
    followPrimary() {
      for (const { proxy } of servers) {
        proxy.retarget(database.port())
        proxy.cut()
      }
    },
    faults: () => [...mistakes, ...servers.flatMap(({ faults }) => faults())],
    async stop() {
      stopping.abort()
      await Promise.all([balancer.stop(), enclave.stop(), ...servers.map((server) => server.stop())])
      await Promise.all([nodes.stop(), database.remove(), desk.stop()])
    },
  }
}

/** The sandbox's own, with several relayer accounts in the place of one. Nothing else uses these accounts by now. */
async function writeEnvFile({ sandbox: { directory, accounts } }: Desk): Promise<string> {
  const own = await readFile(join(directory, '.env'), 'utf8')
  const keys = [accounts.relayer, accounts.deployer, accounts.guardian].map(({ privateKey }) => privateKey)
  const path = join(directory, '.env.cluster')
  const changed = own.replace(/^RELAYER_PRIVATE_KEY=.*$/m, `RELAYER_PRIVATE_KEYS=${keys.join(',')}`)
  await writeFile(path, changed, { mode: 0o600 })
  return path
}

interface Around {
  readonly directory: string
  readonly environment: Record<string, string>
  readonly database: ClusterDatabase
  readonly deaths: Death[]
  readonly told: string[]
  readonly stopping: AbortSignal
}

async function keepServer(number: number, port: { port: number; ops: number }, around: Around) {
  const { environment, database, deaths, told, stopping } = around
  const directory = join(around.directory, `server-${number}`)
  await mkdir(directory)
  const proxy = await startTcpProxy(database.port())
  const faults: string[] = []
  let lives = 0
  const server: ServerUnderFaults = createServerUnderFaults({
    directory,
    environment: { ...environment, PORT: `${port.port}`, OPS_PORT: `${port.ops}`, DATA_DIR: directory },
    preload: PRELOAD,
    heard(line) {
      if (line.startsWith('{"time":"')) told.push(line)
    },
  })
  const name = () => `${number}.${lives}`

  async function live(): Promise<void> {
    while (!stopping.aborted) {
      lives++
      const from = performance.now()
      const gaveUp = server.gaveUp.length
      const url = new URL(database.url())
      url.port = String(proxy.port)
      url.searchParams.set('application_name', name())
      await server.start({ DATABASE_URL: url.href })
      await server.ended()
      deaths.push({ at: Date.now(), server: name() })
      if (
        server.gaveUp.length > gaveUp &&
        !proxy.wasTroubled(from) &&
        !database.wasTroubled(from, performance.now())
      ) {
        faults.push(`server ${name()} ended by itself, with ${server.gaveUp.at(-1)}`)
      }
      await sleep(RESTART_MS, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
  const living = live()

  return {
    name,
    isUp: () => server.url() !== undefined,
    proxy,
    faults: () => faults,
    kill: server.kill,
    async pause(forMs: number) {
      server.signal('SIGSTOP')
      await sleep(forMs)
      server.signal('SIGCONT')
    },
    async stop() {
      await server.kill()
      await living
      await proxy.stop()
    },
  }
}

/** The enclave, started again whenever it has ended. */
function keepEnclave({ sandbox, bench }: Desk, listen: string, stopping: AbortSignal) {
  let child: ChildProcess | undefined

  async function live(): Promise<void> {
    while (!stopping.aborted) {
      const main = join(ROOT, 'dist/enclave/main.js')
      child = spawn(process.execPath, ['--import', ENCLAVE_PRELOAD, main, 'serve'], {
        env: {
          PATH: process.env.PATH,
          ENCLAVE_ENV_FILE: join(sandbox.directory, '.env.enclave'),
          ENCLAVE_LISTEN: listen,
          ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
          ENCLAVE_STATE_DIR: join(sandbox.directory, 'enclave'),
          FAULTS_BENCH: bench,
          FAULTS_BENCH_PID: String(process.pid),
        },
        stdio: 'ignore',
      })
      const release = child.pid === undefined ? () => undefined : killWithParent(child.pid)
      await once(child, 'exit')
      release()
      await sleep(RESTART_MS, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
  const living = live()

  return {
    async stop() {
      child?.kill('SIGKILL')
      await living
    },
  }
}
