// `npm run sandbox`: starts every part on this machine and places one sealed order.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DirectoryLockedError } from '../service/directoryLock.js'
import { requireNode } from '../service/version.js'
import { runDemo } from './demo.js'
import { ForeignDirectoryError } from './directory.js'
import { guideOf } from './guide.js'
import { PortTakenError } from './ports.js'
import { MissingPostgresError } from './postgres.js'
import { startSandbox } from './sandbox.js'
import { MissingBuildError } from './serverProcess.js'
import { ROOT } from './settings.js'

const USAGE = `Usage: npm run sandbox -- [options]

  --once                 end after the first order has settled: exit code 0 when the portfolio is right
  --servers <number>     how many servers share a PostgreSQL database behind a balancer (1: one, without either)
  --port <number>        the server's port, or the balancer's (8000)
  --rpc-port <number>    the local chain's port (8545)
  --broker-port <number> the broker stand-in's port (8600)
  --desk-port <number>   the port of the page to trade on (5173)
  --no-desk              do not serve that page: a page of your own has port 5173
  --enclave-port <number> the enclave's port (8700)
  --directory <path>     where the configuration and the server's data go (data/sandbox)
`

const WALK_INTERVAL_MS = 2_000
/** The shell's exit code for a program that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130

function parseCommandLine() {
  const { values } = parseArgs({
    options: {
      once: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      servers: { type: 'string', default: '1' },
      port: { type: 'string', default: '8000' },
      'rpc-port': { type: 'string', default: '8545' },
      'broker-port': { type: 'string', default: '8600' },
      'enclave-port': { type: 'string', default: '8700' },
      'desk-port': { type: 'string', default: '5173' },
      'no-desk': { type: 'boolean', default: false },
      directory: { type: 'string', default: join(ROOT, 'data/sandbox') },
    },
  })
  return values
}

function portOf(text: string, option: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new RangeError(`--${option} expects a port, got "${text}"`)
  return port
}

const MOST_SERVERS = 9

function countOf(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1 || count > MOST_SERVERS)
    throw new RangeError(`--servers expects a number from 1 to ${MOST_SERVERS}, got "${text}"`)
  return count
}

/** Prints each line with the time since the start. */
function createPrinter(): (line: string) => void {
  const startedAt = performance.now()
  return (line) => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    console.log(`${`${seconds} s`.padStart(7)}  ${line}`)
  }
}

async function main(): Promise<number> {
  const values = parseCommandLine()
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
  try {
    await run(values, interruption.signal)
    return 0
  } catch (error) {
    // Ctrl-C ends the chain and the server too, so later failures are its consequence.
    if (interruption.signal.aborted) return EXIT_INTERRUPTED
    throw error
  }
}

/**
 * Starts every part and places the order; unless `once`, runs until the interruption. Rejects if that comes earlier.
 */
async function run(values: ReturnType<typeof parseCommandLine>, interruption: AbortSignal): Promise<void> {
  const print = createPrinter()
  const interrupted = new Promise<void>((resolve) => interruption.addEventListener('abort', () => resolve()))
  const sandbox = await startSandbox({
    directory: values.directory,
    servers: countOf(values.servers),
    ports: {
      server: portOf(values.port, 'port'),
      rpc: portOf(values['rpc-port'], 'rpc-port'),
      broker: portOf(values['broker-port'], 'broker-port'),
      enclave: portOf(values['enclave-port'], 'enclave-port'),
      ...(!values['no-desk'] && { desk: portOf(values['desk-port'], 'desk-port') }),
    },
    walkIntervalMs: WALK_INTERVAL_MS,
    print,
  })
  try {
    await Promise.race([runDemo(sandbox, print), interrupted])
    interruption.throwIfAborted()
    if (values.once) return
    console.log(guideOf(sandbox).join('\n'))
    await interrupted
  } finally {
    print('stopping')
    await sandbox.stop()
  }
}

function explain(error: unknown): string {
  const clear = [
    ...[PortTakenError, MissingBuildError, MissingPostgresError],
    ...[ForeignDirectoryError, DirectoryLockedError, RangeError],
  ]
  if (error instanceof Error && clear.some((kind) => error instanceof kind)) return error.message
  if (error instanceof TypeError && 'code' in error) return `${error.message}\n\n${USAGE}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

requireNode()
try {
  // Exits explicitly, so that pending operations of an interrupted demo end too.
  process.exit(await main())
} catch (error) {
  console.error(`sandbox: ${explain(error)}`)
  process.exit(1)
}
