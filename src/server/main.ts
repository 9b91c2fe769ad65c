import * as z from 'zod'
import { ConfigError } from '../service/config.js'
import { DirectoryLockedError } from '../service/directoryLock.js'
import { EXIT } from '../service/exitCodes.js'
import { createLogger, describeError, type Logger } from '../service/logger.js'
import { processEnd } from '../service/processEnd.js'
import { requireNode } from '../service/version.js'
import { logConfigurationFaults } from './config/checkup.js'
import { type Config, envFileOf, loadConfig } from './config/config.js'
import { type RunningServer, startServer } from './server.js'
import { startCurve } from './signer/curve.js'
import { RelayerKeyError } from './signer/signer.js'
import { StorageError, UnusableDatabaseError } from './store/engine.js'
import { startSqlite } from './store/sqlite/sqliteEngine.js'

// The process: configuration, signals, exit codes. 0 after a clean stop, 1 after a failure.

/** Time to answer callers whose writes failed. */
const LAST_ANSWERS_MS = 100

function fail(text: string): never {
  process.stderr.write(`${text}\n`)
  process.exit(EXIT.failed)
}

function configure(): Config {
  try {
    return loadConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const faults = error.faults.map(({ name, problem }) => `  ${name}: ${problem}`)
    const isWithoutFile = envFileOf(process.env) === ''
    const source = `There is no .env in ${process.cwd()}, and ENV_FILE names none: install -m 600 .env.example .env`
    const help = [...(isWithoutFile ? [source] : []), 'docs/configuration.md describes each variable.']
    return fail(['The configuration cannot be used:', ...faults, ...help].join('\n'))
  }
}

async function start(config: Config, logger: Logger): Promise<RunningServer> {
  // SQLite and the disk may differ after a failed commit, unless the disk was full, so no later commit can be trusted.
  const onBroken = (error: StorageError) => {
    logger.error('storage failed: the server ends', describeError(error))
    setTimeout(() => process.exit(EXIT.failed), LAST_ANSWERS_MS)
  }
  try {
    return await startServer(config, logger, {
      openEngine: (directory) => startSqlite({ directory, onBroken }),
      startCurve,
    })
  } catch (error) {
    const remedy = remedyFor(error, config)
    if (remedy !== undefined) return fail(remedy)
    logger.error('start failed', describeError(error))
    return fail('The server cannot start: see the log line above.')
  }
}

const systemErrorSchema = z.object({
  code: z.string(),
  /** These three of a socket that cannot listen. */
  port: z.number().optional(),
  address: z.string().optional(),
  hostname: z.string().optional(),
})

/** The line for a failed start; undefined for one that only the log can describe. */
function remedyFor(error: unknown, config: Config): string | undefined {
  const { http, ops, relay, dataDir, databaseUrl } = config
  // The secrets of a URL are omitted.
  const place = databaseUrl === undefined ? `DATA_DIR ${dataDir}` : 'DATABASE_URL'
  if (error instanceof DirectoryLockedError) return `DATA_DIR ${error.message}`
  if (error instanceof UnusableDatabaseError) return `${place}: ${error.message}`
  if (error instanceof StorageError)
    return `${place}: its database cannot be read or written (${error.code}). npm run operate -- doctor says what to check.`
  if (error instanceof RelayerKeyError) return error.message
  const { code, port, address, hostname = address } = systemErrorSchema.safeParse(error).data ?? {}
  const places = [
    ['', http],
    ['OPS_', ops],
    ['RELAY_', relay.listen],
  ] as const
  const [ofPort = ''] = places.find(([, place]) => place.port === port) ?? []
  const [ofHost = ''] = places.find(([, place]) => place.host === hostname) ?? []
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use: stop what uses it, or set ${ofPort}PORT.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${ofHost}HOST ${hostname} is no address of this machine (${code}): correct it, or remove it.`
    case 'EACCES':
      if (port !== undefined)
        return `Port ${port} needs rights that this user lacks: set ${ofPort}PORT above 1023.`
      return `DATA_DIR ${dataDir} needs rights that this user lacks: grant them, or name another directory.`
    case 'EEXIST':
    case 'ENOTDIR':
    case 'EROFS':
    case 'ENOSPC':
      return `DATA_DIR ${dataDir} cannot be used as a directory (${code}): name another one.`
  }
}

// The reader of the narration may go away; the service goes on without it.
process.stdout.on('error', () => undefined)

requireNode()
const config = configure()
const logger = createLogger({ level: config.logLevel })
let running: RunningServer | undefined
void processEnd(logger).then(async (exitCode) => {
  if (exitCode === EXIT.done) await running?.stop()
  logger.info('server stopped', { exitCode })
  process.exit(exitCode)
})
const server = await start(config, logger)
running = server
logger.info('operator port opened', { port: server.opsPort })
logger.info('enclave port opened', { port: server.relayPort })
logger.info('server started', { port: server.port, chainId: config.chain.chainId })
void logConfigurationFaults(config, logger)
