import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Contracts, createContracts, createUsdc, type Usdc } from '../../../src/chain/contracts.js'
import { publishDefaultRulebook } from '../../../src/sandbox/demo.js'
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.js'
import { killEnclaves } from '../../e2e/support/enclaveProcesses.js'
import { type Miner, startMiner } from '../support/miner.js'
import { createServerUnderFaults, type ServerUnderFaults } from '../support/serverProcess.js'
import { ENCLAVE_SETTINGS, SERVER_SETTINGS } from './settings.js'

/** A sandbox with its institution, whose server has made way. */
export interface Desk {
  readonly sandbox: Sandbox
  readonly contracts: Contracts
  readonly usdc: Usdc
  readonly miner: Miner
  /** Where the bench and the processes leave word for one another. */
  readonly bench: string
  stop(): Promise<void>
}

/** The same with a server that can be harmed. */
export interface Platform extends Desk {
  readonly server: ServerUnderFaults
  /** Of the server. */
  readonly dataDir: string
}

const PRELOAD = new URL('process/preload.mjs', import.meta.url).href

export function benchIn(directory: string): string {
  return join(directory, 'bench')
}

interface PlatformOptions {
  readonly directory: string
  /** Gets each line that a server says. */
  readonly heard: (line: string) => void
  /** Further ones for every server. */
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

/** Its server and its enclave have ended once they have published the rulebook. */
export async function startDesk(directory: string): Promise<Desk> {
  const bench = benchIn(directory)
  for (const name of ['accounts', 'acts', 'acted']) {
    await mkdir(join(bench, name), { recursive: true })
  }
  const sandbox = await startSandbox({
    directory: join(directory, 'sandbox'),
    ports: { server: 0, rpc: 0, broker: 0 },
    enclave: 'server',
    serverSettings: SERVER_SETTINGS,
    enclaveSettings: ENCLAVE_SETTINGS,
    print: () => undefined,
  })
  await publishDefaultRulebook(sandbox, { allowWithdrawShares: true })
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
