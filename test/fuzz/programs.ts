import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { ResidentSettings } from '../../src/enclave/resident/settings.js'
import { claimPorts } from '../../src/sandbox/ports.js'
import { createRunRecords } from '../../src/server/store/runRecords.js'
import { SERVER_ACCOUNT, startStandIn } from '../support/brokerStandIn.js'
import { built } from '../support/built.js'
import type { TestChain } from '../support/chain.js'
import { eventually } from '../support/eventually.js'
import { ORG } from '../support/institution.js'
import { chainEnvironment } from '../support/intakeServer.js'
import { createLogLines } from '../support/logLines.js'
import { keyOf } from '../support/openings.js'
import { openQuickly } from '../support/quickStores.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'
import { runtimeEnvironment } from '../support/runtimeEnvironment.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { watched } from '../support/serverProcess.js'
import type { Service } from './routes.js'
import { FUZZED_ORDER, RUN_IDS } from './world.js'

const REPORTER = new URL('reporter.mjs', import.meta.url).href
const RESIDENT = fileURLToPath(new URL('../support/enclaves/scriptedResident.mjs', import.meta.url))
const QUIET_MS = 500
const QUIET_WITHIN_MS = 15_000
const DAY_SECONDS = 86_400
const WAITING = { outcome: 'placed', retryAt: 4_000_000_000 }

/**
 * Lets the fuzzer meet every limit but the rate, which would answer most requests. Orders that wait for an escrow fill their client's room,
 * and all room, and expire during the run. Stalled connections are hung up on.
 */
const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_UNDER_WAY: '30000',
  ENVELOPE_MAX_WAITING: '15',
  ENVELOPE_EXPIRY: '30s',
  REQUEST_TIMEOUT: '3s',
  POLICY_RUN_TIMEOUT: '2s',
  RELAY_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
  RPC_TIMEOUT: '20s',
  TRUST_PROXY: '1',
  ENCLAVE_MAX_RUNS: '4',
}

/** The ends that a run can come to; the last one repeats. */
const ENDS = {
  any: [WAITING, { outcome: 'failed' }, { act: 'throw' }, {}, { outcome: 'rejected' }, WAITING],
  [FUZZED_ORDER]: [{ ...WAITING, waitMs: 1_500 }],
  policy: [
    { outcome: 'rejected', code: 'wrong-version' },
    ...[{ act: 'throw' }, { act: 'hang' }],
    { outcome: 'failed', code: 'broker-unavailable' },
    { outcome: 'accepted', orgId: ORG, version: 1 },
  ],
}

const heldSchema = z.object({ heapUsed: z.number(), handles: z.number(), descriptors: z.number() })
/** Bytes, active handles and open file descriptors of a process after a garbage collection. */
export type Held = z.output<typeof heldSchema>

/** Starts the server and its enclave. They end with their test. @param directory keeps their data */
export async function startPrograms(chain: TestChain, directory: string) {
  const dataDir = join(directory, 'data')
  await leaveRuns(dataDir)
  const script = join(directory, 'enclave.env')
  await writeFile(`${script}.plan.json`, JSON.stringify(ENDS))
  const broker = await startStandIn()
  onTestFinished(() => broker.stop())
  const { enclave: port } = await claimPorts({ enclave: 0 })
  const server = await start('server', {
    ...SERVER_ENVIRONMENT,
    ...chainEnvironment(chain),
    ...SETTINGS,
    ENCLAVE_URL: `http://127.0.0.1:${port}`,
    DATA_DIR: dataDir,
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: keyOf(chain, 'relayer'),
    ALPACA_KEY_ID: SERVER_ACCOUNT.keyId,
    ALPACA_SECRET_KEY: SERVER_ACCOUNT.secretKey,
    ALPACA_TRADING_URL: broker.url,
    ALPACA_DATA_URL: broker.url,
  })
  const settings: ResidentSettings = {
    listen: { host: '127.0.0.1', port },
    secret: RUN_SECRET,
    serverUrl: `http://127.0.0.1:${server.port}`,
    relayToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    stateDirectory: join(directory, 'enclave'),
    maxRuns: 16,
    logLevel: 'info',
  }
  const enclave = await start('enclave', { ENCLAVE_ENV_FILE: script, SETTINGS: JSON.stringify(settings) })
  return { programs: { server, enclave }, dataDir, runsFile: `${script}.log` }
}

/** Leaves what an earlier server would have left of runs under way: the next one awaits their results. */
async function leaveRuns(directory: string): Promise<void> {
  const engine = await openQuickly(directory)
  const records = createRunRecords({ engine, logger: createLogLines().logger })
  const startedAt = new Date().toISOString()
  const stopAt = Math.ceil(Date.now() / 1_000) + DAY_SECONDS
  for (const runId of RUN_IDS) {
    await records.create({ job: 'policy', runId, startedAt, stopAt })
  }
  await engine.stop()
}

/** Starts the real server, or its enclave that stays up, as a process of its own. Resolves when it listens. */
async function start(name: Service, env: Record<string, string>) {
  const program = name === 'server' ? built('server/main.js') : RESIDENT
  const child = spawn(process.execPath, ['--expose-gc', '--import', REPORTER, program], {
    env: { ...runtimeEnvironment(), ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const { output } = watched(child)
  const gone = once(child, 'close')
  const listens = /"port":(\d+).*"(?:server|enclave) started"/
  const port = await eventually(`the ${name} to listen`, () => listens.exec(output())?.[1])
  async function ask(): Promise<Held> {
    child.send({}, () => undefined)
    const [message] = await Promise.race([once(child, 'message'), gone])
    return heldSchema.parse(message)
  }
  return {
    port: Number(port),
    /** Everything that it has logged. */
    log: output,
    /** Log lines that no request may cause, and an end of the process that the test did not ask for. */
    faults() {
      const lines = output().split('\n').slice(0, -1)
      const { exitCode, signalCode } = child
      if (exitCode === null && signalCode === null) return lines.filter(isFault)
      return [`the ${name} ended by itself: ${exitCode ?? signalCode}`, ...lines.slice(-20)]
    },
    /** Its resources once its handles have stopped changing. */
    async held() {
      const giveUpAt = Date.now() + QUIET_WITHIN_MS
      let held = await ask()
      for (let calm = 0; calm < 4 && Date.now() < giveUpAt; ) {
        await sleep(QUIET_MS)
        const before = held
        held = await ask()
        const isCalm = held.handles === before.handles && held.descriptors === before.descriptors
        calm = isCalm ? calm + 1 : 0
      }
      return held
    },
    /** Resolves with its exit code. */
    async stop() {
      child.kill('SIGTERM')
      await gone
      return child.exitCode
    },
  }
}

/** Defects, and whatever is no line of the log. Runs crash in the enclave by plan. */
function isFault(line: string): boolean {
  if (!line.startsWith('{"')) return true
  const isRun = /"msg":"(?:order|enclave) run ended"/.test(line)
  return !isRun && /internal-error|uncaught|not handled|did not stop|set aside/.test(line)
}
