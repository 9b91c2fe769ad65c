import { join, resolve } from 'node:path'
import type { ResidentSettings } from '../../../src/enclave/resident/settings.js'
import { createRunRecords } from '../../../src/server/store/runRecords.js'
import { openSqlite } from '../../../src/server/store/sqlite/sqliteEngine.js'
import { SERVER_ACCOUNT } from '../../support/brokerStandIn.js'
import type { TestChain } from '../../support/chain.js'
import { chainEnvironment } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { ENCLAVE_SIGNER, ROLES } from '../../support/roles.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { type FuzzedProcess, startFuzzedProcess } from './fuzzedProcess.js'
import type { World } from './world.js'

const AWAITED_SECONDS = 86_400

interface FuzzedServerOptions {
  readonly chain: TestChain
  readonly brokerUrl: string
  /** Where its enclave listens, or will. */
  readonly enclavePort: number
  /** Keeps its data and its log. */
  readonly directory: string
}

/**
 * Lets the fuzzer meet every limit but the rate, which would answer most requests. Orders that wait for an escrow fill their client's room, and all room, and expire during the run. Stalled
 * connections are hung up on.
 */
const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_UNDER_WAY: '30000',
  ENVELOPE_MAX_WAITING: '15',
  ENVELOPE_EXPIRY: '10s',
  REQUEST_TIMEOUT: '3s',
  POLICY_RUN_TIMEOUT: '2s',
  RELAY_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
  RPC_TIMEOUT: '20s',
  TRUST_PROXY: '1',
}

/** The server, which reaches its enclave at a URL. */
export function startFuzzedServer({
  chain,
  brokerUrl,
  enclavePort,
  directory,
}: FuzzedServerOptions): Promise<FuzzedProcess> {
  const env = {
    ...SERVER_ENVIRONMENT,
    ...chainEnvironment(chain),
    ...SETTINGS,
    ENCLAVE_URL: urlOf(enclavePort),
    ENCLAVE_MAX_RUNS: '4',
    DATA_DIR: dataDirectory(directory),
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
    ALPACA_KEY_ID: SERVER_ACCOUNT.keyId,
    ALPACA_SECRET_KEY: SERVER_ACCOUNT.secretKey,
    ALPACA_TRADING_URL: brokerUrl,
    ALPACA_DATA_URL: brokerUrl,
  }
  return startFuzzedProcess({ name: 'server', env, directory })
}

/** Its enclave, whose runs do as the script says. @param options.port where the server looks for it */
export function startFuzzedEnclave(options: {
  readonly port: number
  readonly serverPort: number
  readonly directory: string
}): Promise<FuzzedProcess> {
  const { port, serverPort, directory } = options
  const settings: ResidentSettings = {
    listen: { host: '127.0.0.1', port },
    secret: RUN_SECRET,
    serverUrl: urlOf(serverPort),
    relayToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    stateDirectory: join(directory, 'enclave'),
    maxRuns: 16,
    logLevel: 'info',
  }
  const env = { ENCLAVE_ENV_FILE: scriptOf(directory), SETTINGS: JSON.stringify(settings) }
  return startFuzzedProcess({ name: 'enclave', env, directory })
}

/** The path that the enclave's plan, and the notes of its runs, begin with. */
export function scriptOf(directory: string): string {
  return join(directory, 'enclave.env')
}

/** Leaves what an earlier server would have left of runs under way: the next one awaits their results. */
export async function leaveRuns({ runIds }: World, directory: string): Promise<void> {
  const root = dataDirectory(directory)
  const engine = openSqlite({ directory: root, onBroken: () => undefined })
  const records = createRunRecords({ engine, logger: createLogLines().logger })
  const now = Date.now()
  for (const runId of runIds) {
    const startedAt = new Date(now).toISOString()
    const stopAt = Math.ceil(now / 1_000) + AWAITED_SECONDS
    await records.create({ job: 'policy', runId, startedAt, stopAt, process: null })
  }
  await engine.stop()
}

function dataDirectory(directory: string): string {
  return resolve(directory, 'data')
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}
