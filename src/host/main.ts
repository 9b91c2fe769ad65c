import { ConfigError } from '../server/config.js'
import { DirectoryLockedError } from '../server/store/directoryLock.js'
import { createLogger, describeError } from '../service/logger.js'
import { requireNode } from '../service/nodeVersion.js'
import { type HostConfig, loadConfig } from './config.js'
import { type RunningHost, startHost } from './host.js'

// The process: configuration, signals, exit codes. 0 after a clean stop, 1 when it can't start or can't go on.

const EXIT_FAILURE = 1
/** The shell's convention for a process that Ctrl-C ended. */
const EXIT_FORCED = 130

function fail(text: string): never {
  process.stderr.write(`${text}\n`)
  process.exit(EXIT_FAILURE)
}

function configure(): HostConfig {
  try {
    return loadConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const faults = error.faults.map(({ name, problem }) => `  ${name}: ${problem}`)
    return fail(['The configuration cannot be used:', ...faults, 'See .env.host.example.'].join('\n'))
  }
}

async function start(): Promise<RunningHost> {
  try {
    return await startHost(config, logger)
  } catch (error) {
    if (error instanceof DirectoryLockedError) return fail(`DATA_DIR ${error.message}`)
    logger.error('start failed', describeError(error))
    return fail('The host cannot start: see the log line above.')
  }
}

requireNode()
const config = configure()
const logger = createLogger({ level: config.logLevel })
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  // Node's own report would quote the failure's message.
  process.on(event, (error: unknown) => {
    logger.error('uncaught failure', describeError(error))
    process.exit(EXIT_FAILURE)
  })
}
const host = await start()
let isStopping = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (isStopping) process.exit(EXIT_FORCED)
    isStopping = true
    logger.info('stopping', { signal })
    void host.stop().then(() => process.exit(0))
  })
}
logger.info('listening', { port: host.port })
