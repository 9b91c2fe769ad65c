import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { environmentSchema as enclaveSchema } from '../../src/enclave/configSchema.js'
import { claimPorts } from '../../src/sandbox/ports.js'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { type ServerProcess, startProcess } from '../../src/sandbox/serverProcess.js'
import { environmentSchema as serverSchema } from '../../src/server/config/schema.js'
import { differencesOf } from '../../src/service/config.js'
import { ask } from '../../test/faults/audit.js'
import { eventually } from '../../test/support/eventually.js'
import { startPostgres } from '../../test/support/postgres.js'
import { childrenOf } from '../../test/support/processes.js'
import { BENCH_DIRECTORY, type BenchContext } from './figure.js'
import { cpuMs } from './platformProcesses.js'
import type { Target } from './processes.js'

type Context = Pick<BenchContext, 'cleanUp' | 'options' | 'settings'>

/** The compiled server, which ends with this process. */
export type Server = Target & ServerProcess

/**
 * Where the server alone is measured, enclave runs wait for their turn, as with a hosted enclave that has a quota: a run takes most
 * of a core, and would be measured with the server.
 */
const CALM = {
  ENCLAVE_TRIGGER_INTERVAL: '1h',
  // A rulebook must be able to wait for its turn.
  POLICY_RUN_TIMEOUT: '2h',
}

/** A new directory, removed at the end. */
export async function makeDirectory({ cleanUp }: Pick<Context, 'cleanUp'>, name: string): Promise<string> {
  const directory = await mkdtemp(join(BENCH_DIRECTORY, `${name}-`))
  cleanUp.defer(() => rm(directory, { recursive: true, force: true }))
  return directory
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>

/** Starts a sandbox with a measured server, whose enclave rests. @param settings of the server besides those that keep it calm */
export function startPlatform(context: Context, settings: Record<string, string> = {}) {
  return startWhole(context, { ...CALM, ...settings })
}

/** The same as a newcomer gets it, enclave runs included. */
export async function startWhole(context: Context, serverSettings: Record<string, string> = {}) {
  const directory = await makeDirectory(context, 'sandbox')
  const sandbox = await startSandbox({
    directory,
    ports: { server: 0, rpc: 0, broker: 0 },
    serverSettings,
    print: () => {},
  })
  context.cleanUp.defer(sandbox.stop)
  noteSettings(context, 'enclave', enclaveSchema, await readVariables(join(directory, '.env.enclave')))
  // Starts a measured server in place of the sandbox's own, with its configuration.
  await sandbox.server().stop()
  return { sandbox, server: await startServer(context, { directory, url: sandbox.info.url }) }
}

/** Every setting that is not the default stands below the figure. */
export function noteSettings(
  { settings }: Pick<Context, 'settings'>,
  program: string,
  schema: Parameters<typeof differencesOf>[0],
  variables: Readonly<Record<string, string>>,
): void {
  const differences = differencesOf(schema, variables)
  settings.add(`${program}: ${differences.join(', ') || 'none'}`)
}

async function readVariables(file: string): Promise<Record<string, string>> {
  return parse(await readFile(file))
}

export async function startServer(
  context: Context,
  { nodeOptions = [], ...launch }: Parameters<typeof startProcess>[1],
): Promise<Server> {
  const { cleanUp, options } = context
  const { ENV_FILE = join(launch.directory, '.env') } = launch.variables ?? {}
  noteSettings(context, 'server', serverSchema, { ...(await readVariables(ENV_FILE)), ...launch.variables })
  const profiling = options.cpuProf ? ['--cpu-prof', `--cpu-prof-dir=${BENCH_DIRECTORY}`] : []
  const server = await startProcess('server', { ...launch, nodeOptions: [...nodeOptions, ...profiling] })
  cleanUp.defer(server.stop)
  return { url: launch.url, ...server }
}

/** Starts a server at a free port, with a data directory of its own. */
export async function startServerBeside(context: Context, settings: Record<string, string>): Promise<Server> {
  const directory = await makeDirectory(context, 'server')
  const { server: port } = await claimPorts({ server: 0 })
  const own = { DATA_DIR: directory, HOST: '127.0.0.1', PORT: `${port}`, OPS_PORT: '0', RELAY_PORT: '0' }
  const url = `http://127.0.0.1:${port}`
  return startServer(context, { directory, url, variables: { ...settings, ...own } })
}

/** The sandbox's settings for another server, which needs its own database. */
export function settingsBeside({ directory }: Sandbox): Record<string, string> {
  return { ENV_FILE: join(directory, '.env') }
}

const HELD = `SELECT FROM leases WHERE name LIKE 'relayer:%' AND expires_at > clock_timestamp()`

export type Fleet = Awaited<ReturnType<typeof startFleet>>

/** Starts servers that share a database on a new PostgreSQL server. @param settings of each of them */
export async function startFleet(context: Context, count: number, settings: Record<string, string>) {
  const postgres = await startPostgres(BENCH_DIRECTORY)
  context.cleanUp.defer(postgres.remove)
  const DATABASE_URL = (await postgres.createDatabase()).reveal()
  const servers: Server[] = []

  async function start(index: number): Promise<void> {
    servers[index] = await startServerBeside(context, { ...settings, DATABASE_URL })
  }

  for (let index = 0; index < count; index++) await start(index)
  await eventually('a server to hold the account', async () => (await ask(DATABASE_URL, HELD)).length === 1)
  return {
    servers,
    /** CPU so far, in milliseconds. */
    async cpu() {
      const [first] = (await readFile(join(postgres.data, 'postmaster.pid'), 'utf8')).split('\n')
      // PostgreSQL has a process for each connection.
      const pids = [Number(first), ...(await childrenOf(Number(first))).map(({ pid }) => pid)]
      return { servers: await cpuMs(...servers.map(({ pid }) => pid)), database: await cpuMs(...pids) }
    },
    /** Restarts the server that was killed. */
    restart: start,
  }
}
