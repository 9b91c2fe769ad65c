import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Argument, Command } from 'commander'
import { createSharedBroker } from '../broker/index.js'
import { createRpc, type Rpc } from '../chain/rpc.js'
import { registerAgreement } from '../protocol/keyAgreement.js'
import { ConfigError } from '../service/config.js'
import { EXIT } from '../service/exitCodes.js'
import { createLogger, describeError, type Logger } from '../service/logger.js'
import { registerNativeKeccak } from '../service/nativeKeccak.js'
import { opensslAgreement } from '../service/opensslAgreement.js'
import { processEnd } from '../service/processEnd.js'
import { requireNode } from '../service/version.js'
import { createSharedChain } from './chainState.js'
import { systemClock } from './clock.js'
import { addressesOf, brokerOptionsOf, type EnclaveConfig, keysOf, loadConfig } from './config.js'
import { createEnclave, type EnclaveDeps, ofOwnAccount } from './enclave.js'
import { createOwnership } from './ownership.js'
import { createRelay } from './relay.js'
import { listenFault, residentSettings } from './resident/settings.js'

/** The configuration of an enclave that stays up, unless `ENCLAVE_ENV_FILE` names another file. */
const USUAL_ENV_FILE = '.env.enclave'

/** Stays up until `processEnd`, and then until its runs have ended. Resolves with the exit code. */
async function serve(): Promise<0 | 1> {
  // Before anything is made: files of this process are its user's alone.
  process.umask(0o077)
  const usual = existsSync(USUAL_ENV_FILE) ? { ENCLAVE_ENV_FILE: USUAL_ENV_FILE } : {}
  const program = { program: programHash(), configuredAt: Date.now() }
  const config = loadConfig({ ...usual, ...process.env })
  const settings = residentSettings(config)
  const logger = createLogger({ level: settings.logLevel })
  // Only here: an older Node than `requireNode` asks for has no SQLite.
  const { startResident } = await import('./resident/resident.js')
  const end = processEnd(logger)
  const deps = depsOf(config, logger)
  const chain = createSharedChain({ ...deps, pollMs: config.CONFIRM_POLL_INTERVAL }).forRun()
  const ownership = createOwnership({ ...deps, chain, logger })
  // Ahead of the first run, and for the operator who reads the log of the start. Each run asks again.
  ownership.assert().catch(() => undefined)
  const enclave = ofOwnAccount(createEnclave(deps), ownership, deps.relay)
  const resident = await startResident(settings, { enclave, program, logger }).catch((error: unknown) => {
    logger.error('start failed', describeError(error))
    throw listenFault(error, settings.listen) ?? error
  })
  const exitCode = await end
  await resident.stop()
  logger.info('enclave stopped', { exitCode })
  return exitCode
}

/** SHA-256 of this file, which is the whole built program. */
function programHash(): string {
  return createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex')
}

function depsOf(config: EnclaveConfig, logger: Logger): EnclaveDeps {
  const { CHAIN_ID: chainId } = config
  return {
    chainId,
    rpc: rpcOf(config, config.RPC_URL),
    witness: config.RPC_WITNESS_URL.length === 0 ? undefined : rpcOf(config, config.RPC_WITNESS_URL),
    addresses: addressesOf(config),
    broker: createSharedBroker({
      ...brokerOptionsOf(config),
      onActionsRead(failure) {
        if (failure) logger.warn('corporate actions not read', { reason: failure.kind })
        else logger.info('corporate actions read again')
      },
    }),
    relay: createRelay({
      url: config.RELAY_URL,
      token: config.RELAY_AUTH_TOKEN,
      timeoutMs: config.RELAY_TIMEOUT,
    }),
    clock: systemClock,
    keys: keysOf(config),
    fees: config.BROKER_FEES,
    timings: {
      confirmPollMs: config.CONFIRM_POLL_INTERVAL,
      relayAgainMs: config.RELAY_RETRY_AFTER,
      fillWaitMs: config.FILL_WAIT,
      absentAgainMs: config.ABSENT_RECHECK_AFTER,
      ambiguousAgainMs: config.AMBIGUOUS_RETRY_AFTER,
      depthWaitMs: config.CHAIN_DEPTH_WAIT,
    },
    depth: config.CHAIN_DEPTH,
    maxHeadAgeMs: config.CHAIN_MAX_HEAD_AGE,
    batching: {
      accounts: config.RECONCILE_MIN_ACCOUNTS,
      maxDelayMs: config.RECONCILE_MAX_DELAY_DAYS * 86_400_000,
    },
    limits: { order: config.MIN_ORDER, withdrawal: config.MIN_WITHDRAWAL },
  }
}

function rpcOf(config: EnclaveConfig, urls: string[]): Rpc {
  return createRpc({ chainId: config.CHAIN_ID, urls, timeoutMs: config.RPC_TIMEOUT, shareAnswers: false })
}

requireNode()
registerNativeKeccak()
registerAgreement(opensslAgreement)
await new Command('main.js')
  .addArgument(
    new Argument('[command]', 'serve: takes jobs over HTTP until it is stopped').choices(['serve']),
  )
  .option('--check', 'reads the configuration alone, and prints nothing unless there is a fault')
  .option('--hash', "prints this file's SHA-256")
  .action(
    async (command: 'serve' | undefined, { check, hash }: { check?: true; hash?: true }, root: Command) => {
      if (hash) process.stdout.write(`${programHash()}  dist/enclave/main.js\n`)
      else if (check) loadConfig()
      else if (command === undefined) root.help({ error: true })
      else process.exit(await serve())
    },
  )
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(
      `${error instanceof ConfigError ? error.message : 'the enclave could not do its work'}\n`,
    )
    process.exit(EXIT.failed)
  })
process.exit(EXIT.done)
