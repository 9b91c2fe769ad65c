import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Contracts, createContracts, createUsdc, type Usdc } from '../../../src/chain/contracts.js'
import { publishDefaultRulebook } from '../../../src/sandbox/demo.js'
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.js'
import { killEnclaves } from '../../e2e/support/enclaveProcesses.js'
import {
  createServerUnderFaults,
  IMPATIENT_SETTINGS,
  type ServerUnderFaults,
} from '../engine/serverProcess.js'
import { type Miner, startMiner } from '../nodes/chain.js'
import { DEEPEST_REORG } from './plan.js'

const SERVER_SETTINGS = {
  ...IMPATIENT_SETTINGS,
  RPC_TIMEOUT: '3s',
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

/** A sandbox with its institution, and without its server. */
export interface Desk {
  readonly sandbox: Sandbox
  readonly contracts: Contracts
  readonly usdc: Usdc
  readonly miner: Miner
  /** The directory of notes between the storm and its processes. */
  readonly bench: string
  stop(): Promise<void>
}

/** A desk with a server under faults. */
export interface Platform extends Desk {
  readonly server: ServerUnderFaults
  /** The server's. */
  readonly dataDir: string
}

const PRELOAD = new URL('server.mjs', import.meta.url).href

export function benchIn(directory: string): string {
  return join(directory, 'bench')
}

interface PlatformOptions {
  readonly directory: string
  /** Gets each line that a server prints. */
  readonly heard: (line: string) => void
  /** Further variables of every server. */
  readonly variables?: Record<string, string> | undefined
}

export async function startPlatform({ directory, heard, variables }: PlatformOptions): Promise<Platform> {
  const desk = await startDesk(directory)
  const { sandbox, bench } = desk
  const environment = {
    PATH: process.env.PATH ?? '',
    ENV_FILE: join(sandbox.directory, '.env'),
    FAULTS_STORE: '[]',
    FAULTS_STRUCK: join(bench, 'struck'),
    FAULTS_FULL: join(bench, 'full'),
    FAULTS_CLOCK: join(bench, 'clock'),
    FAULTS_BENCH: bench,
    ...variables,
  }
  const server = createServerUnderFaults({ directory, environment, preload: PRELOAD, heard })
  return {
    ...desk,
    server,
    dataDir: join(sandbox.directory, 'server'),
    async stop() {
      await server.kill()
      await desk.stop()
    },
  }
}

/** Starts a sandbox, publishes the rulebook, and ends its server and its enclave. */
export async function startDesk(directory: string): Promise<Desk> {
  const bench = benchIn(directory)
  for (const name of ['accounts', 'acts', 'acted']) {
    await mkdir(join(bench, name), { recursive: true })
  }
  const sandbox = await startSandbox({
    directory: join(directory, 'sandbox'),
    ports: { server: 0, rpc: 0, broker: 0 },
    enclave: 'server',
    states: 2 * DEEPEST_REORG,
    serverSettings: SERVER_SETTINGS,
    enclaveSettings: ENCLAVE_SETTINGS,
    print: () => undefined,
  })
  await publishDefaultRulebook(sandbox)
  await sandbox.server().kill()
  await killEnclaves(sandbox)
  const miner = await startMiner(sandbox)
  return {
    sandbox,
    contracts: createContracts(sandbox.provider, sandbox.info.contracts),
    usdc: createUsdc(sandbox.provider, sandbox.info.contracts.usdc),
    miner,
    bench,
    async stop() {
      await killEnclaves(sandbox)
      await miner.stop()
      await sandbox.stop()
    },
  }
}
