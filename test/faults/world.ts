// One world for every storm: a real chain behind faulty nodes, real servers and their store, a real enclave, and the broker's stand-in.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { createContracts, createUsdc } from '../../src/chain/contracts.js'
import { publishDefaultRulebook } from '../../src/sandbox/demo.js'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { ROOT, type SandboxOptions } from '../../src/sandbox/settings.js'
import type { Table } from '../../src/server/store/engine.js'
import { handEnclaveOver, killEnclaves } from '../e2e/support/enclaveProcesses.js'
import { startBalancer } from '../support/balancer.js'
import { eventually } from '../support/eventually.js'
import { freePorts } from '../support/freePorts.js'
import { storedRows } from '../support/storedRows.js'
import { direct, startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { ask } from './audit.js'
import { startChain } from './chain.js'
import { type ClusterDatabase, startClusterDatabase } from './database.js'
import { startFaultyNodes } from './faultyNodes.js'
import type { Broadcast } from './history.js'
import { createNotes, type Notes } from './notes.js'
import { DEEPEST_REORG, LEASE_TTL_MS, type Link } from './plan.js'
import { keepProgram } from './servers.js'

/** Impatient, so that the servers' patience fits many times into a storm. */
const SERVER_SETTINGS = {
  RPC_TIMEOUT: '3s',
  RELAY_RESUBMIT_AFTER: '2s',
  // A storm has few accounts, and many orders of each.
  RELAY_ACCOUNT_DAILY_GAS: '5000000000',
  // All callers of a storm share one address, and ask for their receipts at once.
  MAX_CONNECTIONS: '15000',
  LOG_LEVEL: 'info',
  CONFIRMATIONS: `${DEEPEST_REORG + 1}`,
  // The least that the configuration allows.
  ORDER_RUN_TIMEOUT: '90s',
  MARKET_CLOCK_MAX_AGE: '1s',
}
/** The enclave gives up an order only after every call to the broker that may be on its way: these keep that true. */
const ENCLAVE_SETTINGS = {
  CHAIN_DEPTH: `${DEEPEST_REORG}`,
  FILL_WAIT: '1500ms',
  CONFIRM_POLL_INTERVAL: '100ms',
  BROKER_TIMEOUT: '2500ms',
  AMBIGUOUS_RETRY_AFTER: '300ms',
  ABSENT_RECHECK_AFTER: '8s',
  RELAY_RETRY_AFTER: '3s',
  // The market closes for a few seconds.
  BROKER_CLOCK_MAX_AGE: '1ms',
  // The amounts are small, so that few orders are refused, and no fill waits for other accounts.
  MIN_ORDER: '1000000',
  MIN_WITHDRAWAL: '1',
  RECONCILE_MIN_ACCOUNTS: '1',
  RECONCILE_MAX_DELAY_DAYS: '0',
}
/** Of each server, which they answer alone about their chain. */
const NODES = 3
const PRELOAD = new URL('programs/server.mjs', import.meta.url).href
const ENCLAVE_PRELOAD = new URL('programs/enclave.mjs', import.meta.url).href
const MAIN = join(ROOT, 'dist/server/main.js')
const ENCLAVE_MAIN = join(ROOT, 'dist/enclave/main.js')
const RUN_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
/** How a server says that it cannot start without its database: its supervisor starts it again. */
const START_REFUSED = 'DATABASE_URL: its database cannot be read or written'

export interface WorldOptions {
  /** Keeps everything: data, logs and notes. */
  readonly directory: string
  /** One with SQLite, which starts its enclave, or several on PostgreSQL behind balancers, with an enclave of its own. */
  readonly servers: number
  /** With the settings that are shipped, and no proxy; otherwise they are impatient, and every connection can fail. */
  readonly isShipped?: boolean
}

const IMPATIENT = {
  serverSettings: SERVER_SETTINGS,
  enclaveSettings: ENCLAVE_SETTINGS,
  states: 2 * DEEPEST_REORG,
}

export type World = Awaited<ReturnType<typeof startWorld>>
type Server = Awaited<ReturnType<typeof startServer>>

export async function startWorld(options: WorldOptions) {
  const { directory, servers: count, isShipped = false } = options
  const isCluster = count > 1
  const bench = join(directory, 'bench')
  const notes = await createNotes(bench)
  const [sandbox, database] = await Promise.all([
    startDesk(directory, isShipped ? {} : IMPATIENT),
    isCluster ? startClusterDatabase(isShipped) : undefined,
  ])
  const { accounts, info, provider } = sandbox
  const chain = await startChain(provider, info.chainId, [accounts.relayer.privateKey], isShipped)
  const dataDir = join(sandbox.directory, 'server')
  const broadcasts: Broadcast[] = []
  const mistakes: string[] = []
  const nodes = await startFaultyNodes(info.rpcUrl, NODES * count, ({ nonce, serialized: raw }) => {
    broadcasts.push({ at: Date.now(), nonce, raw })
    // Of several servers the database's history tells.
    if (!isCluster && !isStored(dataDir, raw)) mistakes.push(`nonce ${nonce}: sent before it was saved`)
  })
  const common = { FAULTS_BENCH: bench }
  const around = { directory, notes }
  const cluster =
    database &&
    (await startCluster({ sandbox, database, count, isShipped, urls: nodes.urls, common }, around))
  const servers: readonly Server[] = cluster?.servers ?? [
    await startServer(
      {
        ...common,
        ENV_FILE: join(sandbox.directory, '.env'),
        RPC_URL: nodes.urls.join(),
      },
      { ...around, number: 0, links: {}, wasTroubled: () => false },
    ),
  ]
  await eventually('all servers to listen', () => servers.every(({ program }) => program.url() !== undefined))
  return {
    sandbox,
    contracts: createContracts(provider, info.contracts),
    usdc: createUsdc(provider, info.contracts.usdc),
    ...{ notes, chain, nodes, servers, database, broadcasts },
    /** Undefined where the server starts it. */
    enclave: cluster?.enclave,
    /** Where clients find a server now. */
    url: () => (isCluster ? info.url : servers[0]?.program.url()),
    store: {
      async rows(table: Table) {
        if (database !== undefined) return rowsOf(database, table)
        return storedRows(dataDir, table).map(({ id, is_open, doc }) => ({
          table,
          id,
          isOpen: is_open === 1,
          doc,
        }))
      },
    },
    /** How often a server's process was killed or ended. */
    deaths: () => servers.reduce((sum, server) => sum + server.deaths(), 0),
    /** Connections go to the current primary from now on. */
    followPrimary(): void {
      for (const { links } of servers) {
        if (database !== undefined) links.database?.retarget(database.port())
        links.database?.cut()
      }
    },
    faults: () => [...mistakes, ...servers.flatMap(({ faults }) => faults)],
    async stop(): Promise<void> {
      await Promise.all([cluster?.stop(), ...servers.map(({ stop }) => stop())])
      await Promise.all([nodes.stop(), database?.remove()])
      await killEnclaves(sandbox)
      await chain.stop()
      await sandbox.stop()
    },
  }
}

/** Starts a sandbox, publishes the rulebook, and ends its server and its enclave. */
async function startDesk(directory: string, settings: Partial<SandboxOptions>): Promise<Sandbox> {
  const sandbox = await startSandbox({
    directory: join(directory, 'sandbox'),
    ports: { server: 0, rpc: 0, broker: 0 },
    ...settings,
    print: () => undefined,
  })
  await handEnclaveOver(sandbox)
  await publishDefaultRulebook(sandbox)
  await sandbox.server().kill()
  await killEnclaves(sandbox)
  return sandbox
}

/** Whether SQLite has the transaction: by itself where it fills a gap, or with its authorization. */
function isStored(dataDir: string, raw: string): boolean {
  const rows = [...storedRows(dataDir, 'relays'), ...storedRows(dataDir, 'state')]
  return rows.some(({ doc }) => doc.includes(raw))
}

const rowsSchema = z.array(z.object({ id: z.string(), is_open: z.boolean(), doc: z.string() }))

async function rowsOf(database: ClusterDatabase, table: Table) {
  const rows = rowsSchema.parse(await ask(database.url(), `SELECT id, is_open, doc FROM ${table}`))
  return rows.map(({ id, is_open: isOpen, doc }) => ({ table, id, isOpen, doc }))
}

interface Place {
  readonly directory: string
  readonly notes: Notes
  readonly number: number
  /** Its connections with a proxy. */
  readonly links: Partial<Readonly<Record<Link, TcpProxy>>>
  /** Whether its store has been troubled since, of `performance.now()`. */
  readonly wasTroubled: (from: number) => boolean
}

async function startServer(
  variables: Record<string, string> | ((name: string) => Record<string, string>),
  { directory, notes, number, links, wasTroubled }: Place,
) {
  const faults: string[] = []
  let deaths = 0
  const name = (life: number) => `${number}.${life}`
  let storeFaults = 0
  let isStartRefused = false
  const program = keepProgram({
    args: ['--import', PRELOAD, MAIN],
    variables: (life) => (typeof variables === 'function' ? variables(name(life)) : variables),
    log: join(directory, `server-${number}.log`),
    heard(line) {
      if (line.startsWith(START_REFUSED)) isStartRefused = true
    },
    async onDeath({ life, from, code }) {
      deaths++
      const failed = (await notes.acts('done')).filter((act) => act.startsWith('server failed')).length
      const isExcused = failed > storeFaults || notes.isFull() || isStartRefused || wasTroubled(from)
      if (code !== null && !isExcused) faults.push(`server ${name(life)} ended by itself, with ${code}`)
      storeFaults = failed
      isStartRefused = false
    },
  })
  return {
    ...{ program, links, faults },
    deaths: () => deaths,
    async stop() {
      await program.end()
      await Promise.all(Object.values(links).map((proxy) => proxy.stop()))
    },
  }
}

interface ClusterOptions {
  readonly sandbox: Sandbox
  readonly database: ClusterDatabase
  readonly count: number
  readonly isShipped: boolean
  /** The nodes' URLs. */
  readonly urls: readonly string[]
  readonly common: Record<string, string>
}

/** Several servers on one database behind two balancers, and an enclave of its own. */
async function startCluster(options: ClusterOptions, around: Pick<Place, 'directory' | 'notes'>) {
  const { sandbox, database, count, isShipped, urls, common } = options
  const linkTo = isShipped ? direct : startTcpProxy
  const [enclavePort = 0, relayPort = 0, ...ports] = await freePorts(2 + 3 * count)
  const home = await linkTo(relayPort)
  const servers = await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const [port = 0, ops = 0, relay = 0] = ports.slice(3 * number)
      const links = {
        database: await linkTo(database.port()),
        enclave: await linkTo(enclavePort),
        balancer: await linkTo(port),
        relay: await linkTo(relay),
        home,
      }
      const directory = join(around.directory, `server-${number}`)
      await mkdir(directory)
      const variables = (name: string) => {
        const url = new URL(database.url())
        url.port = String(links.database.port)
        url.searchParams.set('application_name', name)
        return {
          ...common,
          ENV_FILE: join(sandbox.directory, '.env'),
          ...(!isShipped && { LEASE_TTL: `${LEASE_TTL_MS}ms` }),
          TRUST_PROXY: '1',
          ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
          ENCLAVE_URL: urlOf(links.enclave),
          PORT: `${port}`,
          OPS_PORT: `${ops}`,
          RELAY_PORT: `${relay}`,
          DATA_DIR: directory,
          RPC_URL: isShipped ? sandbox.info.rpcUrl : urls.slice(number * NODES, (number + 1) * NODES).join(),
          DATABASE_URL: url.href,
        }
      }
      const wasTroubled = (from: number) => links.database.wasTroubled(from) || database.wasTroubled(from)
      return startServer(variables, { ...around, number, links, wasTroubled })
    }),
  )
  // No variable of the enclave's process would win over the file.
  const ownEnv = await readFile(join(sandbox.directory, '.env.enclave'), 'utf8')
  const enclaveEnv = join(sandbox.directory, '.env.enclave.cluster')
  const changedEnv = ownEnv.replace(/^RELAY_URL=.*$/m, `RELAY_URL=${urlOf(home)}`)
  await writeFile(enclaveEnv, changedEnv, { mode: 0o600 })
  const enclave = keepProgram({
    args: ['--import', ENCLAVE_PRELOAD, ENCLAVE_MAIN, 'serve'],
    variables: () => ({
      ...common,
      FAULTS_BENCH_PID: String(process.pid),
      ENCLAVE_ENV_FILE: enclaveEnv,
      ENCLAVE_LISTEN: `127.0.0.1:${enclavePort}`,
      ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
      ENCLAVE_STATE_DIR: join(sandbox.directory, 'cluster-enclave'),
    }),
    log: join(around.directory, 'enclave.log'),
  })
  const upstreams = (link: 'balancer' | 'relay') => servers.map(({ links }) => urlOf(links[link]))
  const balancers = [
    await startBalancer(Number(new URL(sandbox.info.url).port), upstreams('balancer')),
    await startBalancer(relayPort, upstreams('relay')),
  ]
  return {
    servers,
    enclave,
    async stop() {
      await Promise.all([...balancers.map((balancer) => balancer.stop()), enclave.end()])
    },
  }
}

const urlOf = (proxy: TcpProxy | undefined) => `http://127.0.0.1:${proxy?.port}`

/** Waits until something is so, or for so long. */
export async function until(isSo: () => Promise<boolean> | boolean, patienceMs: number): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  while (!(await isSo()) && performance.now() < giveUpAt) await sleep(100)
}
