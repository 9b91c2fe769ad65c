import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
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
  held(): Promise<Held>
  /** What the log has that no request may cause. */
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
 * So set that the fuzzer meets every limit but the rate, which would answer most of it: what waits for an escrow
 * expires while it runs, and what stalls is hung up on.
 */
const SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
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
  const port = await listening(child, join(options.directory, 'server.log'), faults)
  let isStopping = false
  child.on('exit', (code, signal) => {
    if (!isStopping) faults.push(`the server ended by itself: ${code ?? signal}`)
  })
  return {
    port,
    faults,
    async held() {
      child.send({})
      const [message] = await Promise.race([once(child, 'message'), exited.then(() => [undefined])])
      return heldSchema.parse(message)
    },
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      await exited
      if (child.exitCode !== 0) faults.push(`the server did not stop: ${child.exitCode ?? child.signalCode}`)
    },
  }
}

/** The port that it says it listens on. Every line but those of requests is kept. */
function listening({ stdout, stderr }: ChildProcess, log: string, faults: string[]): Promise<number> {
  return new Promise((resolve) => {
    for (const stream of [stdout, stderr]) {
      let rest = ''
      stream?.setEncoding('utf8').on('data', (part: string) => {
        const lines = `${rest}${part}`.split('\n')
        rest = lines.pop() ?? ''
        const kept = lines.filter((line) => !line.includes('"msg":"request"'))
        if (kept.length > 0) appendFileSync(log, `${kept.join('\n')}\n`)
        for (const line of kept) {
          const port = /"port":(\d+).*"listening"/.exec(line)?.[1]
          if (port !== undefined) resolve(Number(port))
        }
        if (stream === stderr) faults.push(...kept.filter(isFault))
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
