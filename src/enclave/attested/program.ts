import { configDigest, configurationOf } from '../../attestation/write.js'
import { modeOf } from '../../protocol/attestation.js'
import type { Bytes } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { withTimeout } from '../../service/waiting.js'
import { createSharedChain } from '../chainState.js'
import { loadSettings } from '../commonConfig.js'
import { chainOptionsOf, runProgram, type Start } from '../program.js'
import type { Routes } from '../resident/door.js'
import { accountRefusal } from './account.js'
import { challengeRoute } from './challenge.js'
import { createEvidence, type Evidence } from './evidence.js'
import { createGathering, type Secrets } from './gathering.js'
import type { Machines } from './machine.js'
import { reportRoute } from './report.js'
import { createRunning } from './running.js'
import { createSealedKeys, type SealedKeys } from './sealedKeys.js'
import { type AttestedConfig, assertNotSteered, attestedSettings } from './settings.js'
import { objectionTo } from './standing.js'

/**
 * Runs the process of an enclave whose keys are born in it.
 * @param file of the program, in the installation
 * @param machines all that the build has: no other one can be named
 * @param allowed variables of Node that the build goes on with
 */
export function runAttested(file: string, machines: Machines, allowed?: readonly string[]): Promise<never> {
  const settings = attestedSettings(Object.keys(machines))
  return runProgram<AttestedConfig>({
    file,
    load(environment) {
      assertNotSteered(environment, allowed)
      return loadSettings(settings, environment)
    },
    async describe(config) {
      const configuration = configurationOf(config)
      return JSON.stringify({ configuration, digest: await configDigest(configuration) }, null, 2)
    },
    start: (start) => startAttested(start, machines),
  })
}

async function startAttested(start: Start<AttestedConfig>, machines: Machines) {
  const { config, settings, logger, program, configuredAt } = start
  const machine = await machines[config.ATTESTATION_PLATFORM]?.()
  const [owner] = config.MASTER_KEY_HOLDERS
  if (machine === undefined || owner === undefined) throw new Error('no such machine')
  const measurement = await machine.measurement()
  logger.info('program measured', { digest: measurement })
  const own = { measurement, config: await configDigest(configurationOf(config)) }
  // Only here: an older Node than `requireNode` asks for has no SQLite.
  const { openTable, startResident } = await import('../resident/resident.js')
  const table = openTable(settings, logger)
  const chain = createSharedChain({
    ...chainOptionsOf(config),
    pollMs: config.CONFIRM_POLL_INTERVAL,
  }).forRun()
  const authority = () => chain.escrow.authority()
  const evidence = createEvidence({ machine, config, boot: table.boot, program, authority })
  const stopping = new AbortController()
  const running = createRunning({ start, own, evidence, stopping: stopping.signal })
  const sealedKeys = createSealedKeys({
    ...{ directory: settings.stateDirectory, machine, configuration: own.config, logger },
    objection: () => objectionTo(own, chain),
  })
  const provisioning = await awaitKeys(
    { ...{ config, logger, evidence, sealedKeys }, begin: running.begin },
    stopping.signal,
  )
  const challenged = async (nonce: Bytes) => {
    const born = running.now()?.born
    return born === undefined ? 'keys-awaited' : evidence.born(born, nonce)
  }
  const signer = () => running.now()?.born.signer
  const resident = await startResident(settings, {
    table,
    enclave: () => running.now()?.enclave,
    program: { program, configuredAt, mode: modeOf(machine.format), signer },
    routes: {
      ...provisioning,
      ...reportRoute(settings.secret, owner, () => running.now()?.subject, logger),
      ...challengeRoute(settings.secret, challenged, logger),
    },
    logger,
  })
  return {
    async stop() {
      stopping.abort()
      await resident.stop()
    },
  }
}

/** Half a second, while nodes answer. */
const OPENING_MS = 10_000

/**
 * Has `begin` called once, with what the enclave has sealed or what its holders give. Where nodes or the device are away, both go on: the
 * holders may be faster.
 * @returns the holders' routes
 */
async function awaitKeys(
  deps: {
    readonly config: AttestedConfig
    readonly evidence: Pick<Evidence, 'starting'>
    readonly sealedKeys: SealedKeys
    readonly begin: (secrets: Secrets) => void
    readonly logger: Logger
  },
  stopping: AbortSignal,
): Promise<Routes> {
  const { config, evidence, sealedKeys, begin, logger } = deps
  function beginUnsealed(secrets: Secrets): void {
    begin(secrets)
    logger.info('keys unsealed')
  }
  const opening = sealedKeys.load(stopping)
  const sealed = await withTimeout(opening, OPENING_MS)
  if (sealed === undefined) logger.warn('keys awaited', { count: config.MASTER_KEY_THRESHOLD })
  else beginUnsealed(sealed)
  const gathering = createGathering({
    ...{ config, evidence, isReady: sealed !== undefined, logger },
    refusalOfKeys: (keys) => accountRefusal(config, keys),
    async ready(secrets) {
      await sealedKeys.save(secrets, stopping)
      begin(secrets)
      logger.info('keys provisioned')
    },
  })
  void opening.then((secrets) => {
    if (secrets !== undefined && gathering.end()) beginUnsealed(secrets)
  })
  return gathering.routes
}
