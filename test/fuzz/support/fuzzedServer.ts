import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { killWithParent } from '../../../src/sandbox/killWithParent.js'
import { SERVER_ACCOUNT } from '../../support/brokerStandIn.js'
import { built } from '../../support/built.js'
import type { TestChain } from '../../support/chain.js'
import { chainEnvironment, enclaveEnvironment } from '../../support/intakeServer.js'
import { ENCLAVE_SIGNER, ROLES } from '../../support/roles.js'
import type { ScriptedEnclave } from '../../support/scriptedEnclave.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const REPORTER = new URL('reporter.mjs', import.meta.url).href

const heldSchema = z.strictObject({
  heapUsed: z.number(),
  external: z.number(),
  arrayBuffers: z.number(),
  rss: z.number(),
  handles: z.number(),
  descriptors: z.number(),
})
/** What the process holds after its garbage is collected: bytes, active handles, open file descriptors. */
export type Held = z.output<typeof heldSchema>

/** The real server as a process of its own. */
export interface FuzzedServer {
  readonly port: number
  readonly pid: number
  /** undefined once the process is gone. */
  held(): Promise<Held | undefined>
  /** What the log has that no request may cause, and how the process ended when nobody had asked it to. */
  readonly faults: readonly string[]
  stop(): Promise<void>
}

interface FuzzedServerOptions {
  readonly chain: TestChain
  readonly brokerUrl: string
  readonly enclave: ScriptedEnclave
  /** Of its data and its log. */
  readonly directory: string
}

/**
 * So set that the fuzzer meets every limit but the rate, which would answer most of it, and overload, which a busy machine
 * would: what waits for an escrow expires while it runs, and what stalls is hung up on.
 */
const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_WAIT: '1m',
  ENVELOPE_MAX_WAITING: '200',
  ENVELOPE_EXPIRY: '3s',
  HEADERS_TIMEOUT: '1s',
  REQUEST_TIMEOUT: '2s',
  POLICY_RUN_TIMEOUT: '2s',
  RELAY_WAIT: '2s',
  RELAY_POLL_INTERVAL: '50ms',
  RELAY_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
  RPC_TIMEOUT: '20s',
  NARRATOR_INTERVAL: '1s',
  TRUST_PROXY: '1',
  RECONCILE_INTERVAL: '24h',
}

const LAST_WORDS = 20

/** Resolves when it listens. Ends with this process at the latest. */
export async function startFuzzedServer(options: FuzzedServerOptions): Promise<FuzzedServer> {
  const child = spawn(process.execPath, ['--expose-gc', '--import', REPORTER, built('server/main.js')], {
    cwd: ROOT,
    env: environmentOf(options),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  if (child.pid === undefined) throw new Error('the server could not be started')
  const exited = once(child, 'exit').then(killWithParent(child.pid))
  const faults: string[] = []
  const lastWords: string[] = []
  let isStopping = false
  // Once all that it has written is read, unlike `exit`.
  const gone = once(child, 'close').then(([code, signal]) => {
    if (!isStopping) faults.push(`the server ended by itself: ${endOf(code, signal, lastWords)}`)
  })
  const log = createLog(join(options.directory, 'server.log'), faults, lastWords)
  const port = await Promise.race([
    listening(child, log),
    gone.then(() => Promise.reject(new Error(faults.join()))),
  ])
  return {
    port,
    pid: child.pid,
    faults,
    async held() {
      if (!child.connected) return gone.then(() => undefined)
      // A process that ends just now is told of by `gone`.
      child.send({}, () => undefined)
      const [message] = await Promise.race([once(child, 'message'), gone.then(() => [undefined])])
      return heldSchema.optional().parse(message)
    },
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      await exited
      if (child.exitCode !== 0) faults.push(`the server did not stop: ${child.exitCode ?? child.signalCode}`)
    },
  }
}

/** @param code, signal of the process @returns both, and what it wrote last to its standard error */
function endOf(code: unknown, signal: unknown, lastWords: readonly string[]): string {
  return [`exit code ${code}, signal ${signal}, after`, ...lastWords].join('\n    ')
}

/** Takes a line of the server's. */
type Log = (line: string, isError: boolean) => void

/** Keeps every line but those of requests in the file, and the last ones of standard error besides. */
function createLog(file: string, faults: string[], lastWords: string[]): Log {
  return (line, isError) => {
    if (line.includes('"msg":"request"')) return
    appendFileSync(file, `${line}\n`)
    if (!isError) return
    lastWords.push(line)
    if (lastWords.length > LAST_WORDS) lastWords.shift()
    if (isFault(line)) faults.push(line)
  }
}

/** Resolves with the port that it says it listens on. */
function listening({ stdout, stderr }: ChildProcess, log: Log): Promise<number> {
  return new Promise((resolve) => {
    for (const stream of [stdout, stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        log(line, stream === stderr)
        const port = /"port":(\d+).*"listening"/.exec(line)?.[1]
        if (port !== undefined) resolve(Number(port))
      })
    }
  })
}

/** Defects, and whatever is no line of the log. */
function isFault(line: string): boolean {
  return !line.startsWith('{"') || /internal-error|uncaught|not dealt with|did not stop|set aside/.test(line)
}

function environmentOf({
  chain,
  brokerUrl,
  enclave,
  directory,
}: FuzzedServerOptions): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    ...SERVER_ENVIRONMENT,
    ...chainEnvironment(chain),
    ...enclaveEnvironment(enclave),
    ...SETTINGS,
    DATA_DIR: join(directory, 'data'),
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
    ALPACA_KEY_ID: SERVER_ACCOUNT.keyId,
    ALPACA_SECRET_KEY: SERVER_ACCOUNT.secretKey,
    ALPACA_TRADING_URL: brokerUrl,
    ALPACA_DATA_URL: brokerUrl,
  }
}
