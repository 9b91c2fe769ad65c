// The command line, and the enclave's parts, of each of its programs.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Argument, Command } from 'commander'
import { createSharedBroker } from '../broker/index.js'
import { createRpc, type Rpc } from '../chain/rpc.js'
import { registerAgreement } from '../protocol/keyAgreement.js'
import { ConfigError, type Environment } from '../service/config.js'
import { EXIT } from '../service/exitCodes.js'
import { createLogger, describeError, type Logger } from '../service/logger.js'
import { registerNativeKeccak } from '../service/nativeKeccak.js'
import { opensslAgreement } from '../service/opensslAgreement.js'
import { processEnd } from '../service/processEnd.js'
import { requireNode } from '../service/version.js'
import { createSharedChain } from './chainState.js'
import { systemClock } from './clock.js'
import { addressesOf, brokerOptionsOf, type TradingConfig } from './commonConfig.js'
import type { CommonConfig } from './commonSettings.js'
import { createEnclave, type Enclave, type EnclaveDeps, ofOwnAccount } from './enclave.js'
import type { EnclaveKeys } from './keys/keys.js'
import { createOwnership } from './ownership.js'
import { createRelay } from './relay.js'
import { listenFault, type ResidentSettings, residentSettings } from './resident/settings.js'

/** The configuration of an enclave that stays up, unless `ENCLAVE_ENV_FILE` names another file. */
const USUAL_ENV_FILE = '.env.enclave'

/** What a program starts with. */
export interface Start<C> {
  readonly config: C
  readonly settings: ResidentSettings
  readonly logger: Logger
  /** SHA-256 of the program's file, in hex. */
  readonly program: string
  /** When it read its configuration, in Unix milliseconds. */
  readonly configuredAt: number
}

/** One of the enclave's programs. */
interface Program<C> {
  /** Its file in the installation. */
  readonly file: string
  /** @throws ConfigError with all faults */
  readonly load: (environment: Environment) => C
  /** Starts it; resolves with what stops it, once its runs have ended. */
  readonly start: (start: Start<C>) => Promise<{ readonly stop: () => Promise<void> }>
  /** What `--configuration` prints, where it has that option. */
  readonly describe?: (config: C) => Promise<string>
}

/** Runs the process by its command line; exits at the end. */
export async function runProgram<C extends CommonConfig>(program: Program<C>): Promise<never> {
  requireNode()
  registerNativeKeccak()
  registerAgreement(opensslAgreement)
  const { file, load, describe } = program
  const command = new Command(file.split('/').at(-1))
    .addArgument(
      new Argument('[command]', 'serve: takes jobs over HTTP until it is stopped').choices(['serve']),
    )
    .option('--check', 'reads the configuration alone, and prints nothing unless there is a fault')
    .option('--hash', "prints this file's SHA-256")
  if (describe) command.option('--configuration', 'prints the public configuration, and its SHA-256')
  await command
    .action(async (name: 'serve' | undefined, options: Readonly<Record<string, true>>, root: Command) => {
      if (options.hash) process.stdout.write(`${programHash()}  ${file}\n`)
      else if (options.check) load(process.env)
      else if (options.configuration && describe)
        process.stdout.write(`${await describe(load(process.env))}\n`)
      else if (name === undefined) root.help({ error: true })
      else process.exit(await serve(program))
    })
    .parseAsync()
    .catch((error: unknown) => {
      process.stderr.write(
        `${error instanceof ConfigError ? error.message : 'the enclave could not do its work'}\n`,
      )
      process.exit(EXIT.failed)
    })
  process.exit(EXIT.done)
}

/** Stays up until `processEnd`, and then until its runs have ended. Resolves with the exit code. */
async function serve<C extends CommonConfig>({ load, start }: Program<C>): Promise<0 | 1> {
  // Files of this process are its user's alone, from the first one on.
  process.umask(0o077)
  const usual = existsSync(USUAL_ENV_FILE) ? { ENCLAVE_ENV_FILE: USUAL_ENV_FILE } : {}
  const identity = { program: programHash(), configuredAt: Date.now() }
  const config = load({ ...usual, ...process.env })
  const settings = residentSettings(config)
  const logger = createLogger({ level: settings.logLevel })
  const end = processEnd(logger)
  const running = await start({ config, settings, logger, ...identity }).catch((error: unknown) => {
    logger.error('start failed', describeError(error))
    throw listenFault(error, settings.listen) ?? error
  })
  const exitCode = await end
  await running.stop()
  logger.info('enclave stopped', { exitCode })
  return exitCode
}

/** SHA-256 of this file, which is the whole built program. */
function programHash(): string {
  return createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex')
}

/** The enclave of this configuration, which trades with an account of its own. */
export function enclaveOf(config: TradingConfig, keys: EnclaveKeys, logger: Logger): Enclave {
  const deps = depsOf(config, keys, logger)
  const chain = createSharedChain({ ...deps, pollMs: config.CONFIRM_POLL_INTERVAL }).forRun()
  const ownership = createOwnership({ ...deps, chain, logger })
  // Ahead of the first run, and for the operator who reads the log of the start. Each run asks again.
  ownership.assert().catch(() => undefined)
  return ofOwnAccount(createEnclave(deps), ownership, deps.relay)
}

function depsOf(config: TradingConfig, keys: EnclaveKeys, logger: Logger): EnclaveDeps {
  return {
    ...chainOptionsOf(config),
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
    keys,
    fees: config.BROKER_FEES,
    timings: {
      confirmPollMs: config.CONFIRM_POLL_INTERVAL,
      relayAgainMs: config.RELAY_RETRY_AFTER,
      fillWaitMs: config.FILL_WAIT,
      absentAgainMs: config.ABSENT_RECHECK_AFTER,
      ambiguousAgainMs: config.AMBIGUOUS_RETRY_AFTER,
      depthWaitMs: config.CHAIN_DEPTH_WAIT,
    },
    batching: {
      accounts: config.RECONCILE_MIN_ACCOUNTS,
      maxDelayMs: config.RECONCILE_MAX_DELAY_DAYS * 86_400_000,
    },
    limits: { order: config.MIN_ORDER, withdrawal: config.MIN_WITHDRAWAL },
  }
}

/** The chain, by the nodes and at the depth of a configuration. */
export function chainOptionsOf(config: CommonConfig) {
  return {
    chainId: config.CHAIN_ID,
    rpc: rpcOf(config, config.RPC_URL),
    witness: config.RPC_WITNESS_URL.length === 0 ? undefined : rpcOf(config, config.RPC_WITNESS_URL),
    addresses: addressesOf(config),
    clock: systemClock,
    depth: config.CHAIN_DEPTH,
    maxHeadAgeMs: config.CHAIN_MAX_HEAD_AGE,
  }
}

function rpcOf(config: CommonConfig, urls: string[]): Rpc {
  return createRpc({ chainId: config.CHAIN_ID, urls, timeoutMs: config.RPC_TIMEOUT, shareAnswers: false })
}
