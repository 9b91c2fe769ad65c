import { utils } from '@noble/secp256k1'
import { ProtocolError } from '../../protocol/errors.js'
import type { Bytes, Hex } from '../../protocol/hex.js'
import { jsonOf } from '../../protocol/json.js'
import { openShare } from '../../protocol/masterShare.js'
import {
  assertFoundingSigned,
  assertProvisionSigned,
  type BrokerKeys,
  foundingRequestSchema,
  openBrokerKeys,
  type Provision,
  type Provisioned,
  provisionSchema,
  sharesDigest,
} from '../../protocol/provisioning.js'
import { publicKeyOf } from '../../protocol/publicKey.js'
import type { Logger } from '../../service/logger.js'
import { createTimedValue, oneAtATime } from '../../service/waiting.js'
import { createShareCollector, drawMaster, shareMaster } from '../keys/born.js'
import type { DoorCode, Routes } from '../resident/door.js'
import type { Evidence } from './evidence.js'
import { orRefusal } from './failures.js'
import type { AttestedConfig } from './settings.js'

/** What an enclave needs from people, and seals for its next start. */
export interface Secrets {
  /** 32 bytes. */
  readonly master: Bytes
  readonly brokerKeys: Omit<BrokerKeys, 'v'>
}

/** Holders who ask at once share a document of this age, and strangers a refusal: they have the device asked no more often. */
const EVIDENCE_MAX_AGE_MS = 5_000
/** Each opens envelopes and tries combinations of shares. */
const MAX_AT_ONCE = 4

/**
 * Waits for the holders of shares: shows evidence of a key that was drawn for this start, and takes what they seal to it. It can also found:
 * draw a master key, whose shares it hands out and forgets.
 * @param deps `ready` is called once, with all that is needed; `isReady`: they are there already
 */
export function createGathering(deps: {
  readonly config: Pick<
    AttestedConfig,
    'CHAIN_ID' | 'ORDER_ESCROW_ADDRESS' | 'MASTER_KEY_HOLDERS' | 'MASTER_KEY_THRESHOLD'
  >
  readonly evidence: Pick<Evidence, 'starting'>
  readonly isReady: boolean
  /** Why the enclave refuses keys of the broker. */
  readonly refusalOfKeys: (keys: BrokerKeys) => Promise<DoorCode | undefined>
  readonly ready: (secrets: Secrets) => Promise<void>
  readonly logger: Logger
}) {
  const { config, evidence, logger } = deps
  const { MASTER_KEY_HOLDERS: holders, MASTER_KEY_THRESHOLD: threshold } = config
  const domain = { chainId: config.CHAIN_ID, escrow: config.ORDER_ESCROW_ADDRESS }
  const start = drawKey()
  const collector = createShareCollector()
  const given = new Set<Hex>()
  let master: Bytes | undefined
  let brokerKeys: BrokerKeys | undefined
  let isReady = deps.isReady
  let atOnce = 0
  const shown = createTimedValue(EVIDENCE_MAX_AGE_MS, () =>
    orRefusal(logger, 'evidence', () => evidence.starting(start.sealKey)),
  )

  const foundMaster = oneAtATime(async () => {
    const drawn = drawMaster()
    const shares = await shareMaster(drawn, holders, { threshold, domain })
    drawn.fill(0)
    return { ...(await evidence.starting(start.sealKey, sharesDigest(shares))), shares }
  })

  function refusalOf(provision: Provision): DoorCode | undefined {
    const index = holders.indexOf(provision.holder)
    if (index < 0 || (provision.brokerKeys && index > 0)) return 'unknown-holder'
    return refusalUnless(() => assertProvisionSigned(provision, start.sealKey))
  }

  /** A stranger at the door has the enclave ask neither device nor nodes. */
  function foundingRefusal(text: string): DoorCode | undefined {
    const { data: request } = foundingRequestSchema.safeParse(jsonOf(text))
    const [owner] = holders
    if (request === undefined || owner === undefined) return 'invalid-body'
    return refusalUnless(() => assertFoundingSigned(request.signature, start.sealKey, owner))
  }

  async function take(provision: Provision): Promise<Provisioned | DoorCode> {
    const opened = await openBoth(provision)
    if (opened?.share.threshold !== threshold) return 'invalid-share'
    const refusal = opened.keys && (await deps.refusalOfKeys(opened.keys))
    if (refusal !== undefined) {
      logger.warn('broker keys refused', { code: refusal })
      return refusal
    }
    // Others may have given the last one meanwhile.
    if (isReady) return 'keys-present'
    given.add(provision.holder)
    brokerKeys = opened.keys ?? brokerKeys
    master = (await collector.add(provision.holder, opened.share)) ?? master
    if (!isReady && master !== undefined && brokerKeys !== undefined) {
      isReady = true
      start.privateKey.fill(0)
      const { keyId, secretKey } = brokerKeys
      await deps.ready({ master, brokerKeys: { keyId, secretKey } })
    }
    return { given: [...given], threshold, hasBrokerKeys: brokerKeys !== undefined, isReady }
  }

  async function openBoth(provision: Provision) {
    try {
      const share = await openShare(provision.envelope, start.privateKey, ['share-for-enclave', domain])
      const keys = provision.brokerKeys
        ? await openBrokerKeys(provision.brokerKeys, start.privateKey, domain)
        : undefined
      return { share, keys }
    } catch (error) {
      if (error instanceof ProtocolError) return undefined
      throw error
    }
  }

  const routes: Routes = {
    '/provisioning': {
      async GET() {
        return isReady ? 'keys-present' : shown()
      },
      async POST({ text }) {
        if (isReady) return 'keys-present'
        if (atOnce >= MAX_AT_ONCE) return 'busy'
        const { data: provision } = provisionSchema.safeParse(jsonOf(text))
        if (provision === undefined) return 'invalid-body'
        atOnce++
        try {
          return refusalOf(provision) ?? (await take(provision))
        } finally {
          atOnce--
        }
      },
    },
    '/provisioning/founding': {
      async POST({ text }) {
        if (isReady) return 'keys-present'
        return foundingRefusal(text) ?? orRefusal(logger, 'evidence', foundMaster)
      },
    },
  }
  return {
    routes,
    /** The keys are there by another way. @returns false where the holders were faster */
    end(): boolean {
      if (isReady) return false
      isReady = true
      start.privateKey.fill(0)
      return true
    },
  }
}

/** The key of one start, which ends with it. */
function drawKey() {
  const privateKey = Uint8Array.from(utils.randomSecretKey())
  return { privateKey, sealKey: publicKeyOf(privateKey) }
}

function refusalUnless(assertSigned: () => void): 'provision-unsigned' | undefined {
  try {
    assertSigned()
    return undefined
  } catch (error) {
    if (error instanceof ProtocolError) return 'provision-unsigned'
    throw error
  }
}
