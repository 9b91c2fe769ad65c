import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { killWithParent } from '../../../src/sandbox/killWithParent.js'
import { ROOT } from '../../../src/sandbox/settings.js'
import { startBalancer } from '../../support/balancer.js'
import { eventually } from '../../support/eventually.js'
import { freePorts } from '../../support/freePorts.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { createServerUnderFaults, type ServerUnderFaults } from '../engine/serverProcess.js'
import { type ChainFaults, createChainFaults } from '../nodes/chain.js'
import { type FaultyNodes, startFaultyNodes } from '../nodes/faultyNodes.js'
import { NODES } from '../nodes/plan.js'
import { type Desk, startDesk } from '../orders/platform.js'
import { ask } from './audit.js'
import { type ClusterDatabase, startClusterDatabase } from './database.js'
import { type ClusterPlan, type Link, SERVERS } from './plan.js'
import type { Broadcast, Death } from './verdicts.js'

/** One of the servers: started again whenever it has ended. */
export interface ClusterServer {
  /** The name of the current process in its connections to the database. */
  name(): string
  kill(): Promise<void>
  /** SIGSTOP, and SIGCONT after a while. */
  pause(forMs: number): Promise<void>
  /** SIGTERM. */
  stop(): void
  /** Its connections. The one from the enclave to the balancer is the same for all servers. */
  readonly links: Readonly<Record<Link, TcpProxy>>
}

/** Three servers behind a balancer, their database and its standby, the nodes, and an enclave. */
export interface Cluster {
  readonly desk: Desk
  readonly database: ClusterDatabase
  readonly nodes: FaultyNodes
  readonly chainFaults: ChainFaults
  /** Kills the enclave, and starts one that knows nothing of its runs. */
  replaceEnclave(): Promise<void>
  /** When that was: Unix milliseconds. */
  readonly replacedAt: readonly number[]
  readonly servers: readonly ClusterServer[]
  readonly broadcasts: readonly Broadcast[]
  readonly deaths: readonly Death[]
  /** The servers' narration, line by line. */
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

const PRELOAD = new URL('preload.mjs', import.meta.url).href
const ENCLAVE_PRELOAD = new URL('../orders/enclave.mjs', import.meta.url).href
const RUN_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const RESTART_MS = 1_000
/** How a server says that it cannot start without its database: its supervisor starts it again. */
const START_REFUSED = 'DATABASE_URL: its database cannot be read or written'

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { plan, directory, leaseTtlMs, mayMount, variables } = options
  const [desk, database, [enclavePort = 0, relayPort = 0, ...ports]] = await Promise.all([
    startDesk(directory),
    startClusterDatabase(mayMount),
    freePorts(2 + 3 * SERVERS),
  ])
  const { sandbox, bench } = desk
  for (const name of ['server-acts', 'server-acted']) await mkdir(join(bench, name))
  const broadcasts: Broadcast[] = []
  const deaths: Death[] = []
  const told: string[] = []
  const mistakes: string[] = []
  const chainFaults = createChainFaults(
    { provider: sandbox.provider, chainId: sandbox.info.chainId, keys: relayerKeys(desk) },
    desk.miner,
    plan.nodes,
  )
  const nodes = await startFaultyNodes({
    target: sandbox.info.rpcUrl,
    plan: plan.nodes,
    isLegacy: false,
    // Each server has nodes of its own, which answer it alone about their chain.
    count: NODES * SERVERS,
    onlooker: {
      leaves: ({ from, nonce, serialized, data }) => {
        broadcasts.push({ at: Date.now(), from: from ?? '', nonce, raw: serialized, data })
      },
      passed: chainFaults.afterSend,
      mistook: (words) => mistakes.push(words),
    },
  })
  const environment = {
    PATH: process.env.PATH ?? '',
    ENV_FILE: await writeEnvFile(desk),
    LEASE_TTL: `${leaseTtlMs}ms`,
    TRUST_PROXY: '1',
    ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
    NARRATOR_FORMAT: 'json',
    FAULTS_CLOCK: join(bench, 'clock'),
    FAULTS_BENCH: bench,
    ...variables,
  }
  const stopping = new AbortController()
  const balancerPort = Number(new URL(sandbox.info.url).port)
  const home = await startTcpProxy(relayPort)
  const around = { directory, environment, database, deaths, told, home, stopping: stopping.signal }
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, (_, number) => {
      const rpcUrls = nodes.urls.slice(number * NODES, (number + 1) * NODES)
      const [port = 0, ops = 0, relay = 0] = ports.slice(3 * number)
      return keepServer({ number, port, ops, relay, enclavePort, rpcUrls }, around)
    }),
  )
  const envFile = await writeEnclaveEnvFile(desk, urlOf(home))
  const enclave = keepEnclave(desk, { port: enclavePort, envFile, stopping: stopping.signal })
  const balancers = [
    await startBalancer(
      balancerPort,
      servers.map(({ links }) => urlOf(links.balancer)),
    ),
    await startBalancer(
      relayPort,
      servers.map(({ links }) => urlOf(links.relay)),
    ),
  ]
  await eventually('all servers to listen', () => servers.every(({ isUp }) => isUp()))
  await eventually('the narration to begin', async () => {
    const rows = await ask(database.url(), "SELECT FROM state WHERE id = 'narrator'")
    return rows.length === 1
  })
  return {
    desk,
    database,
    nodes,
    chainFaults,
    replaceEnclave: enclave.replace,
    replacedAt: enclave.replacedAt,
    servers,
    broadcasts,
    deaths,
    told,
    followPrimary() {
      for (const { links } of servers) {
        links.database.retarget(database.port())
        links.database.cut()
      }
    },
    faults: () => [...mistakes, ...servers.flatMap(({ faults }) => faults())],
    async stop() {
      stopping.abort()
      const parts = [...balancers, enclave].map((part) => part.stop())
      await Promise.all([...parts, ...servers.map((server) => server.end())])
      await Promise.all([home.stop(), nodes.stop(), database.remove(), desk.stop()])
    },
  }
}

const urlOf = ({ port }: TcpProxy) => `http://127.0.0.1:${port}`

/** Several accounts in the place of one. Nothing else uses them by now. */
function relayerKeys({ sandbox: { accounts } }: Desk): string[] {
  return [accounts.relayer, accounts.deployer, accounts.guardian].map(({ privateKey }) => privateKey)
}

/** The sandbox's own, with the relayers' keys. */
async function writeEnvFile(desk: Desk): Promise<string> {
  const { directory } = desk.sandbox
  const own = await readFile(join(directory, '.env'), 'utf8')
  const path = join(directory, '.env.cluster')
  const keys = relayerKeys(desk).join(',')
  const changed = own.replace(/^RELAYER_PRIVATE_KEY=.*$/m, `RELAYER_PRIVATE_KEY=${keys}`)
  await writeFile(path, changed, { mode: 0o600 })
  return path
}

/** The sandbox's own, with the way to the balancer in it: no variable of the enclave's process would win over the file. */
async function writeEnclaveEnvFile({ sandbox: { directory } }: Desk, relayUrl: string): Promise<string> {
  const own = await readFile(join(directory, '.env.enclave'), 'utf8')
  const path = join(directory, '.env.enclave.cluster')
  await writeFile(path, own.replace(/^RELAY_URL=.*$/m, `RELAY_URL=${relayUrl}`), { mode: 0o600 })
  return path
}

interface Around {
  readonly directory: string
  readonly environment: Record<string, string>
  readonly database: ClusterDatabase
  readonly deaths: Death[]
  readonly told: string[]
  readonly home: TcpProxy
  readonly stopping: AbortSignal
}

interface Place {
  readonly number: number
  readonly port: number
  readonly ops: number
  readonly relay: number
  readonly enclavePort: number
  readonly rpcUrls: readonly string[]
}

async function keepServer({ number, port, ops, relay, enclavePort, rpcUrls }: Place, around: Around) {
  const { environment, database, deaths, told, home, stopping } = around
  const directory = join(around.directory, `server-${number}`)
  await mkdir(directory)
  const links = {
    database: await startTcpProxy(database.port()),
    enclave: await startTcpProxy(enclavePort),
    balancer: await startTcpProxy(port),
    relay: await startTcpProxy(relay),
    home,
  }
  const faults: string[] = []
  let lives = 0
  let isStartRefused = false
  const server: ServerUnderFaults = createServerUnderFaults({
    directory,
    environment: {
      ...environment,
      PORT: `${port}`,
      OPS_PORT: `${ops}`,
      RELAY_PORT: `${relay}`,
      DATA_DIR: directory,
      RPC_URL: rpcUrls.join(','),
      ENCLAVE_URL: urlOf(links.enclave),
    },
    preload: PRELOAD,
    heard(line) {
      if (line.startsWith('{"time":"')) told.push(line)
      if (line.startsWith(START_REFUSED)) isStartRefused = true
    },
  })
  /** Whether the process that runs now has been asked to end. */
  let isAsked = false
  const name = () => `${number}.${lives}`

  async function live(): Promise<void> {
    while (!stopping.aborted) {
      lives++
      isAsked = false
      isStartRefused = false
      const from = performance.now()
      const gaveUp = server.gaveUp.length
      const url = new URL(database.url())
      url.port = String(links.database.port)
      url.searchParams.set('application_name', name())
      await server.start({ DATABASE_URL: url.href })
      await server.ended()
      const code = server.gaveUp[gaveUp]
      // One that was asked to, and could, prints what it has saved.
      if (!isAsked || code !== 0) deaths.push({ at: Date.now(), server: name() })
      const isTroubled = links.database.wasTroubled(from) || database.wasTroubled(from, performance.now())
      // Its last words may arrive after its end.
      await sleep(RESTART_MS, undefined, { signal: stopping }).catch(() => undefined)
      if (code !== undefined && !(isAsked && code === 0) && !isTroubled && !isStartRefused) {
        faults.push(`server ${name()} ended by itself, with ${code}`)
      }
    }
  }
  const living = live()

  return {
    name,
    isUp: () => server.url() !== undefined,
    links,
    faults: () => faults,
    kill: server.kill,
    async pause(forMs: number) {
      server.signal('SIGSTOP')
      await sleep(forMs)
      server.signal('SIGCONT')
    },
    stop() {
      isAsked = true
      server.signal('SIGTERM')
    },
    async end() {
      await server.kill()
      await living
      await Promise.all(
        [links.database, links.enclave, links.balancer, links.relay].map((proxy) => proxy.stop()),
      )
    },
  }
}

/** The enclave, started again whenever it has ended. */
function keepEnclave(
  { sandbox, bench }: Desk,
  { port, envFile, stopping }: { port: number; envFile: string; stopping: AbortSignal },
) {
  let child: ChildProcess | undefined
  const replacedAt: number[] = []

  async function live(): Promise<void> {
    while (!stopping.aborted) {
      const main = join(ROOT, 'dist/enclave/main.js')
      child = spawn(process.execPath, ['--import', ENCLAVE_PRELOAD, main, 'serve'], {
        env: {
          PATH: process.env.PATH,
          ENCLAVE_ENV_FILE: envFile,
          ENCLAVE_LISTEN: `127.0.0.1:${port}`,
          ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
          ENCLAVE_STATE_DIR: join(sandbox.directory, `cluster-enclave-${replacedAt.length}`),
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
    replacedAt,
    async replace() {
      replacedAt.push(Date.now())
      child?.kill('SIGKILL')
    },
    async stop() {
      child?.kill('SIGKILL')
      await living
    },
  }
}
