import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { claimPorts } from '../../src/sandbox/ports.js'
import { startPostgres } from '../../src/sandbox/postgres.js'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { type ServerProcess, startServerProcess } from '../../src/sandbox/serverProcess.js'
import { BENCH_DIRECTORY, type BenchContext } from './figure.js'
import type { Target } from './processes.js'

/** The compiled server, which ends with this process. */
export type Server = Target & ServerProcess

/** Everything that a real server needs around it, and that server. */
export interface Platform {
  readonly sandbox: Sandbox
  readonly server: Server
}

type Surroundings = Pick<BenchContext, 'cleanUp' | 'nodeOptions'>

/**
 * Differences from the defaults. The load comes from one address, which the limits per client would refuse. Enclave runs wait
 * for their turn, as with a hosted enclave that has a quota: a run takes most of a core, and would be measured with the server.
 */
const CALM = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_CONNECTIONS_PER_CLIENT: '10000',
  MAX_UNDER_WAY_PER_CLIENT: '10000',
  ENCLAVE_TRIGGER_INTERVAL: '1h',
  // A rulebook must be able to wait for its turn.
  POLICY_RUN_TIMEOUT: '2h',
}

/** Callers who each wait for their answer are not turned away, however busy they keep the server. */
export const PATIENT = { MAX_WAIT: '1m' }

let directories = 0

/** A new directory, removed at the end. */
export async function makeDirectory(
  { cleanUp }: Pick<Surroundings, 'cleanUp'>,
  name: string,
): Promise<string> {
  const directory = join(BENCH_DIRECTORY, `${name}-${Date.now()}-${directories++}`)
  await mkdir(directory)
  cleanUp.add(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A sandbox with a measured server in it. @param settings of the server besides those that keep it calm */
export async function startPlatform(
  around: Surroundings,
  settings: Record<string, string> = {},
): Promise<Platform> {
  const sandbox = await startSandbox({
    directory: await makeDirectory(around, 'sandbox'),
    ports: { server: 0, rpc: 0, broker: 0 },
    serverSettings: { ...CALM, ...settings },
    print: () => {},
  })
  around.cleanUp.add(sandbox.stop)
  return { sandbox, server: await replaceServer(sandbox, around) }
}

/** Starts a measured server in the place of the sandbox's own, with its configuration. */
export async function replaceServer(
  sandbox: Sandbox,
  { cleanUp, nodeOptions }: Surroundings,
): Promise<Server> {
  await sandbox.server().stop()
  const { directory, info } = sandbox
  const server = await startServerProcess({ directory, url: info.url, nodeOptions })
  cleanUp.add(server.stop)
  return { url: info.url, ...server }
}

/** Starts a measured server at a free port. */
export async function startServer(around: Surroundings, settings: Record<string, string>): Promise<Server> {
  const { cleanUp, nodeOptions } = around
  const directory = await makeDirectory(around, 'server')
  const { server: port } = await claimPorts({ server: 0, rpc: 0, broker: 0 })
  const url = `http://127.0.0.1:${port}`
  const own = { DATA_DIR: directory, HOST: '127.0.0.1', PORT: `${port}`, OPS_PORT: '0' }
  const server = await startServerProcess({ directory, url, variables: { ...settings, ...own }, nodeOptions })
  cleanUp.add(server.stop)
  return { url, ...server }
}

/** The settings of a server beside the sandbox's own, which needs a database of its own. */
export function settingsBeside({ directory }: Sandbox): Record<string, string> {
  return { ENV_FILE: join(directory, '.env') }
}

/** A database of a new PostgreSQL server, as a setting, and that server. */
export async function startDatabase({ cleanUp }: Pick<Surroundings, 'cleanUp'>) {
  const postgres = await startPostgres(BENCH_DIRECTORY)
  cleanUp.add(postgres.remove)
  return { postgres, DATABASE_URL: (await postgres.createDatabase()).reveal() }
}
