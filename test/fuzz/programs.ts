import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { ResidentSettings } from '../../src/enclave/resident/settings.js'
import { killWithParent } from '../../src/sandbox/killWithParent.js'
import { claimPorts } from '../../src/sandbox/ports.js'
import { ROOT } from '../../src/sandbox/settings.js'
import { createRunRecords } from '../../src/server/store/runRecords.js'
import { openSqlite } from '../../src/server/store/sqlite/sqliteEngine.js'
import { SERVER_ACCOUNT } from '../support/brokerStandIn.js'
import { built } from '../support/built.js'
import type { TestChain } from '../support/chain.js'
import { ORG } from '../support/institution.js'
import { chainEnvironment } from '../support/intakeServer.js'
import { createLogLines } from '../support/logLines.js'
import { ENCLAVE_SIGNER, ROLES } from '../support/roles.js'
import { runtimeEnvironment } from '../support/runtimeEnvironment.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import type { Service } from './routes.js'
import { ENCLAVES_ORDER, RUN_IDS } from './world.js'

const REPORTER = new URL('reporter.mjs', import.meta.url).href
const RESIDENT = fileURLToPath(new URL('../support/enclaves/scriptedResident.mjs', import.meta.url))
const LAST_WORDS = 20
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
  ENVELOPE_EXPIRY: '10s',
  REQUEST_TIMEOUT: '3s',
  POLICY_RUN_TIMEOUT: '2s',
  RELAY_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
  RPC_TIMEOUT: '20s',
  TRUST_PROXY: '1',
  ENCLAVE_MAX_RUNS: '4',
}

const heldSchema = z.object({ heapUsed: z.number(), handles: z.number(), descriptors: z.number() })
/** Bytes, active handles and open file descriptors of a process after a garbage collection. */
export type Held = z.output<typeof heldSchema>

/** The real server, or its enclave that stays up, as a process of its own. */
export interface FuzzedProgram {
  readonly port: number
  readonly pid: number
  /** What it holds once its handles have stopped changing. */
  held(): Promise<Held>
  stop(): Promise<void>
  /** Log lines that no request may cause, and an end of the process that the test did not ask for. */
  readonly faults: readonly string[]
}

/** Starts the server and its enclave. They end with their test. @param directory keeps their data and logs */
export async function startPrograms(
  chain: TestChain,
  brokerUrl: string,
  directory: string,
): Promise<Readonly<Record<Service, FuzzedProgram>>> {
  const dataDir = join(directory, 'data')
  await leaveRuns(dataDir)
  const script = join(directory, 'enclave.env')
  await writeFile(`${script}.plan.json`, JSON.stringify(ENDS))
  const ports = await claimPorts({ server: 0, rpc: 0, broker: 0, enclave: 0 })
  const server = await start('server', directory, {
    ...SERVER_ENVIRONMENT,
    ...chainEnvironment(chain),
    ...SETTINGS,
    ENCLAVE_URL: `http://127.0.0.1:${ports.enclave}`,
    DATA_DIR: dataDir,
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
    ALPACA_KEY_ID: SERVER_ACCOUNT.keyId,
    ALPACA_SECRET_KEY: SERVER_ACCOUNT.secretKey,
    ALPACA_TRADING_URL: brokerUrl,
    ALPACA_DATA_URL: brokerUrl,
  })
  const settings: ResidentSettings = {
    listen: { host: '127.0.0.1', port: ports.enclave ?? 0 },
    secret: RUN_SECRET,
    serverUrl: `http://127.0.0.1:${server.port}`,
    relayToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    stateDirectory: join(directory, 'enclave'),
    maxRuns: 16,
    logLevel: 'info',
  }
  const variables = { ENCLAVE_ENV_FILE: script, SETTINGS: JSON.stringify(settings) }
  return { server, enclave: await start('enclave', directory, variables) }
}

/** Ends that a run can come to; the last one repeats. */
const ENDS = {
  any: [WAITING, { outcome: 'failed' }, { act: 'throw' }, {}, { outcome: 'rejected' }, WAITING],
  [ENCLAVES_ORDER]: [{ ...WAITING, waitMs: 1_500 }],
  policy: [
    { outcome: 'rejected', code: 'wrong-version' },
    ...[{ act: 'throw' }, { act: 'hang' }],
    { outcome: 'failed', code: 'broker-unavailable' },
    { outcome: 'accepted', orgId: ORG, version: 1 },
  ],
}

/** Leaves what an earlier server would have left of runs under way: the next one awaits their results. */
async function leaveRuns(directory: string): Promise<void> {
  const engine = openSqlite({ directory, onBroken: () => undefined })
  const records = createRunRecords({ engine, logger: createLogLines().logger })
  const startedAt = new Date().toISOString()
  const stopAt = Math.ceil(Date.now() / 1_000) + DAY_SECONDS
  for (const runId of RUN_IDS)
    await records.create({ job: 'policy', runId, startedAt, stopAt, process: null })
  await engine.stop()
}

/** Resolves when it listens. */
async function start(name: Service, directory: string, env: Record<string, string>): Promise<FuzzedProgram> {
  const program = name === 'server' ? built('server/main.js') : RESIDENT
  const child = spawn(process.execPath, ['--expose-gc', '--import', REPORTER, program], {
    cwd: ROOT,
    env: { ...runtimeEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`the ${name} could not be started`)
  const faults: string[] = []
  const lastWords: string[] = []
  let isStopping = false
  // Once all that it has written is read, unlike `exit`.
  const gone = once(child, 'close')
    .finally(killWithParent(pid))
    .then(([code, signal]) => {
      const end = `exit code ${code}, signal ${signal}, after`
      if (!isStopping) faults.push([`the ${name} ended by itself: ${end}`, ...lastWords].join('\n    '))
    })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  const port = await new Promise<number>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        if (line.includes('"msg":"request"')) return
        appendFileSync(join(directory, `${name}.log`), `${line}\n`)
        const found = /"port":(\d+).*"(?:listening|enclave started)"/.exec(line)?.[1]
        if (found !== undefined) resolve(Number(found))
        if (stream === child.stdout) return
        lastWords.splice(0, lastWords.length - LAST_WORDS + 1)
        lastWords.push(line)
        if (isFault(line)) faults.push(line)
      })
    }
    void gone.then(() => reject(new Error(faults.join())))
  })

  async function ask(): Promise<Held> {
    const answer = once(child, 'message')
    child.send({}, () => undefined)
    const [message] = await Promise.race([answer, gone.then(() => [undefined])])
    return heldSchema.parse(message)
  }

  return {
    ...{ port, pid, faults },
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      await gone
      if (child.exitCode !== 0) faults.push(`the ${name} did not stop: ${child.exitCode ?? child.signalCode}`)
    },
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
  }
}

/** Defects, and whatever is no line of the log. Runs crash in the enclave by plan. */
function isFault(line: string): boolean {
  if (!line.startsWith('{"')) return true
  const isRun = /"msg":"(?:order|enclave) run ended"/.test(line)
  return !isRun && /internal-error|uncaught|not handled|did not stop|set aside/.test(line)
}
