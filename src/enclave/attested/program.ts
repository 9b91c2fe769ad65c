import { configDigest, configurationOf } from '../../attestation/write.js'
import { modeOf } from '../../protocol/attestation.js'
import { bytesToHex, hexToBytes } from '../../protocol/hex.js'
import { claimedRunMessage, isRunMessageSigned } from '../../protocol/runMessage.js'
import { Secret } from '../../service/secret.js'
import { withTimeout } from '../../service/waiting.js'
import { createSharedChain } from '../chainState.js'
import { loadSettings, type TradingConfig } from '../commonConfig.js'
import type { KeysInUse } from '../doctor/checkup.js'
import type { Enclave } from '../enclave.js'
import { deriveKeys } from '../keys/born.js'
import { createKeys } from '../keys/keys.js'
import { chainOptionsOf, enclaveOf, runProgram, type Start } from '../program.js'
import type { Routes } from '../resident/door.js'
import { accountRefusal } from './account.js'
import { createEvidence, type Evidence } from './evidence.js'
import { createGathering, type Secrets } from './gathering.js'
import type { Platforms } from './platform.js'
import { postEvidence } from './posting.js'
import { reportRoute } from './report.js'
import { createSealedKeys } from './sealedKeys.js'
import { type AttestedConfig, assertNotSteered, attestedSettings } from './settings.js'
import { objectionTo } from './standing.js'

/**
 * Runs the process of an enclave whose keys are born in it.
 * @param file of the program, in the installation
 * @param platforms all that the build has: no other one can be named
 */
export function runAttested(file: string, platforms: Platforms): Promise<never> {
  const settings = attestedSettings(Object.keys(platforms))
  return runProgram<AttestedConfig>({
    file,
    load(environment) {
      assertNotSteered(environment)
      return loadSettings(settings, environment)
    },
    async describe(config) {
      const configuration = configurationOf(config)
      return JSON.stringify({ configuration, digest: await configDigest(configuration) }, null, 2)
    },
    start: (start) => startAttested(start, platforms),
  })
}

async function startAttested(start: Start<AttestedConfig>, platforms: Platforms) {
  const { config, settings, logger, program, configuredAt } = start
  const platform = await platforms[config.ATTESTATION_PLATFORM]?.()
  const [owner] = config.MASTER_KEY_HOLDERS
  if (platform === undefined || owner === undefined) throw new Error('no such platform')
  const measurement = await platform.measurement()
  logger.info('program measured', { digest: measurement })
  // Only here: an older Node than `requireNode` asks for has no SQLite.
  const { openTable, startResident } = await import('../resident/resident.js')
  const table = openTable(settings, logger)
  const chain = createSharedChain({
    ...chainOptionsOf(config),
    pollMs: config.CONFIRM_POLL_INTERVAL,
  }).forRun()
  const authority = () => chain.escrow.authority()
  const evidence = createEvidence({ platform, config, boot: table.boot, program, authority })
  const configuration = await configDigest(configurationOf(config))
  const own = { measurement, config: configuration }
  const sealedKeys = createSealedKeys({
    ...{ directory: settings.stateDirectory, platform, configuration, logger },
    objection: () => objectionTo(own, chain),
  })
  const stopping = new AbortController()
  let running:
    | {
        readonly enclave: Enclave
        readonly born: Parameters<Evidence['born']>[0]
        readonly subject: { readonly config: TradingConfig; readonly inUse: KeysInUse }
      }
    | undefined

  function begin({ master, brokerKeys }: Secrets): void {
    const { intent, signing } = deriveKeys(master, own)
    const former = config.FORMER_PROGRAMS.map((each) => new Secret(deriveKeys(master, each).intent))
    const keys = createKeys({
      master: new Secret(bytesToHex(master)),
      intent: new Secret(intent),
      signing: new Secret(signing),
      former,
    })
    const trading = {
      ...config,
      ALPACA_KEY_ID: brokerKeys.keyId,
      ALPACA_SECRET_KEY: brokerKeys.secretKey,
    }
    const { sealKey, signer } = keys
    const born = { sealKey, signer }
    const inUse = { ...born, keys, names: NAMES }
    running = { enclave: enclaveOf(trading, keys, logger), born, subject: { config: trading, inUse } }
    const attest = () => evidence.born(born)
    void postEvidence({ ...settings, attest, stopping: stopping.signal, logger })
  }

  // Where nodes are down, the door opens all the same, and holders may give the keys meanwhile.
  const opening = sealedKeys.load(stopping.signal)
  const sealed = await withTimeout(opening, OPENING_MS)
  if (sealed === undefined) logger.warn('keys awaited', { count: config.MASTER_KEY_THRESHOLD })
  else begin(sealed)
  const gathering = createGathering({
    ...{ config, evidence, isReady: sealed !== undefined },
    refusalOfKeys: (keys) => accountRefusal(config, keys),
    async ready(secrets) {
      await sealedKeys.save(secrets)
      begin(secrets)
      logger.info('keys provisioned')
    },
  })
  void opening.then((secrets) => {
    if (secrets !== undefined && gathering.end()) begin(secrets)
  })
  const resident = await startResident(settings, {
    table,
    enclave: () => running?.enclave,
    program: { program, configuredAt, mode: modeOf(platform.format), signer: () => running?.born.signer },
    routes: {
      ...gathering.routes,
      ...reportRoute(settings.secret, owner, () => running?.subject),
      ...challengeRoute(settings.secret, async (nonce) =>
        running === undefined ? 'keys-awaited' : evidence.born(running.born, nonce),
      ),
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
const NAMES = { signer: "the enclave's own signer", master: 'the master key' }
const NONCE = /^[0-9a-f]{64}$/

/** Fresh evidence for the server, which signs the nonce: one at a time. @param secret that of jobs */
function challengeRoute(
  secret: string,
  attest: (nonce: Uint8Array<ArrayBuffer>) => Promise<object | 'keys-awaited'>,
): Routes {
  let isUnderWay = false
  return {
    '/attestation': {
      async GET({ query, headers }) {
        const nonce = query.get('nonce') ?? ''
        const claimed = claimedRunMessage('challenge', headers)
        if (claimed === undefined || !isRunMessageSigned(secret, claimed, nonce)) return 'run-unauthorized'
        if (!NONCE.test(nonce)) return 'invalid-body'
        if (isUnderWay) return 'busy'
        isUnderWay = true
        try {
          return await attest(hexToBytes(`0x${nonce}`))
        } catch {
          return 'evidence-unavailable'
        } finally {
          isUnderWay = false
        }
      },
    },
  }
}
