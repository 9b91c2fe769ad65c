// Envelopes that the enclave is run on at once: rulebooks, and what the platform's owner has decided.

import type { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockTag } from 'ethers'
import type { IsSignedBy } from '../../chain/accountSignature.js'
import type { Contracts } from '../../chain/contracts.js'
import { sameAddress, ZERO_ADDRESS } from '../../protocol/address.js'
import type { PolicyVersion } from '../../protocol/api.js'
import { MAX_POLICY_BYTES } from '../../protocol/envelopeForm.js'
import { ProtocolError } from '../../protocol/errors.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import type { RunResult } from '../../protocol/job.js'
import { type PostResolution, type Resolved, sealedResolutionDigest } from '../../protocol/resolution.js'
import {
  decodeClaim,
  envelopeHash,
  type PostPolicy,
  RULEBOOK_AUTHOR,
  type RulebookClaim,
  sealedRulebookDigest,
} from '../../protocol/sealedRulebook.js'
import { recoverAddress } from '../../protocol/signature.js'
import type { ChainHead } from '../reads/chainHead.js'
import type { SealedJobEnd, SealedJobs } from '../trigger/sealedJobs.js'

/** Why no new version of a rulebook is on the chain, or why a resolution has no effect. */
export class JobRefusal extends Error {
  override readonly name = 'JobRefusal'

  constructor(
    readonly code:
      | (typeof UNDECIDED)[keyof typeof UNDECIDED]
      | (typeof PASSED_ON)[number]
      | ('not-on-chain' | 'policy-rejected' | 'resolution-rejected' | 'platform-paused'),
    /** The enclave's own code, of what was rejected. */
    readonly reason?: string,
    /** Unix seconds. */
    readonly retryAt?: number,
  ) {
    super(`sealed job not carried out: ${code}`)
  }
}

/** The author of an envelope, by the signature outside the seal; undefined for a signature that recovers to no key. */
function signerOf(digest: Hex, sig: Hex): Hex | undefined {
  try {
    return recoverAddress(digest, sig)
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

/** Ends of a job of which the enclave decided nothing. */
const UNDECIDED = {
  'too-many-waiting': 'enclave-busy',
  stopping: 'shutting-down',
  'no-permit-in-time': 'enclave-timeout',
  timeout: 'enclave-timeout',
  'not-started': 'enclave-failed',
} as const

/** The enclave's own codes of a failure that a caller understands. */
const PASSED_ON = ['chain-unavailable', 'relay-quota-exhausted', 'relay-budget-exhausted'] as const

/** The enclave's decision. @throws JobRefusal when it decided nothing */
function resultOf(end: SealedJobEnd): RunResult {
  if (end.how !== 'result') throw new JobRefusal(UNDECIDED[end.how])
  const { outcome, code, retryAt } = end.result ?? { outcome: 'failed' }
  if (end.result !== null && outcome !== 'failed') return end.result
  // It ended itself before it was stopped: as with any time-out, the relay may yet accept its authorization.
  if (code === 'out-of-time') throw new JobRefusal('enclave-timeout')
  if (code === 'paused') throw new JobRefusal('platform-paused', undefined, retryAt)
  const known = PASSED_ON.find((each) => each === code)
  throw known === undefined ? new JobRefusal('enclave-failed') : new JobRefusal(known, undefined, retryAt)
}

/** The version of an institution's rulebook at a block, 0 before the first. Null when the institution is not registered. */
export function createPolicyVersionView({ registry, ledger }: Pick<Contracts, 'registry' | 'ledger'>) {
  return async (orgId: Hex, block: BlockTag): Promise<PolicyVersion | null> => {
    const [admin, version] = await Promise.all([
      registry.adminOf(orgId, block),
      ledger.policyVersion(orgId, block),
    ])
    return admin === ZERO_ADDRESS ? null : { orgId, version }
  }
}

export type Policy = ReturnType<typeof createPolicy>

/** The largest envelope in hex, and the rest of its body. */
const LONG_BODY_BYTES = 2 * MAX_POLICY_BYTES + 4_096

/** The enclave has seen the transaction on its own node; ours may be a few blocks behind. */
const CONFIRM_ATTEMPTS = 20
const CONFIRM_PAUSE_MS = 250

export function createPolicy(deps: {
  readonly domain: IntentDomain
  /** Runs the enclave on a rulebook; see `SealedJobs`. */
  readonly run: SealedJobs['run']
  /** The admin at the chain's head, zero for an institution that has none. It is asked for once a block and institution. */
  readonly adminOf: (orgId: Hex) => Promise<Hex>
  /** Charged to the poster where it asks the chain. */
  readonly isSignedBy: IsSignedBy
  readonly head: Pick<ChainHead, 'current'>
  readonly ledger: { policyVersion(orgId: Hex): Promise<number> }
  readonly onPublished: () => void
}) {
  const { domain, run, adminOf, isSignedBy, head, ledger, onPublished } = deps

  /**
   * The signature decides which queue the envelope waits in, and a wrong one starts no run; the enclave checks the rulebook inside by
   * itself. Costs a hash and a recovery, and at most one read per block for each institution that senders name. An
   * admin that is a contract is asked for each signature, at the poster's cost.
   */
  async function checkAuthor({ orgId, envelopeHash, sig }: RulebookClaim): Promise<void> {
    const digest = sealedRulebookDigest({ orgId, envelopeHash }, domain)
    const admin = await adminOf(orgId)
    if (admin === ZERO_ADDRESS) throw notPublished('unknown-institution')
    if (await isSignedBy(admin, digest, sig)) return
    throw notPublished(signerOf(digest, sig) === undefined ? 'invalid-signature' : 'not-admin')
  }

  async function isOnChain({ orgId, version }: PolicyVersion): Promise<boolean> {
    for (let attempt = 1; attempt <= CONFIRM_ATTEMPTS; attempt++) {
      if ((await ledger.policyVersion(orgId)) >= version) return true
      await sleep(CONFIRM_PAUSE_MS)
    }
    return false
  }

  /** Institutions whose admin posts a long body: one each, so that the memory for all of them is bounded. */
  const posting = new Set<Hex>()

  return {
    /**
     * The bytes of a long body that an admin has announced by the signature of its envelope; undefined without such a header. A
     * stranger's costs what its signature in a body does, and its body is not read.
     * @throws JobRefusal
     */
    async longerBody(headers: IncomingHttpHeaders, answer: EventEmitter): Promise<number | undefined> {
      const claim = decodeClaim(headers[RULEBOOK_AUTHOR.toLowerCase()])
      if (claim === undefined) return undefined
      await checkAuthor(claim)
      const { orgId } = claim
      if (posting.has(orgId)) throw new JobRefusal('enclave-busy')
      posting.add(orgId)
      answer.once('close', () => posting.delete(orgId))
      return LONG_BODY_BYTES
    },
    /**
     * Has the enclave publish a rulebook; resolves once the new version is on the chain. Starts no run while no node answers,
     * because the run could only fail.
     * @param client the poster, see `clientOf`
     * @throws JobRefusal, StorageError, ChainUnavailableError
     */
    async publish({ author, ...envelope }: PostPolicy, client: string): Promise<PolicyVersion> {
      await head.current()
      if (author !== undefined) await checkAuthor({ ...author, envelopeHash: envelopeHash(envelope) })
      const sender = author === undefined ? { client } : { institution: author.orgId }
      const published = publishedBy(resultOf(await run(envelope, sender)))
      if (!(await isOnChain(published))) throw new JobRefusal('not-on-chain')
      onPublished()
      return published
    },
  }
}

function publishedBy({ outcome, orgId, version, code }: RunResult): PolicyVersion {
  if (outcome === 'accepted' && orgId !== undefined && version !== undefined) return { orgId, version }
  if (outcome === 'rejected' && code !== undefined) throw notPublished(code)
  throw new JobRefusal('enclave-failed')
}

const notPublished = (reason: string) => new JobRefusal('policy-rejected', reason)

/** Brings what the platform's owner has decided to the enclave; see `Resolution`. */
export type Resolutions = ReturnType<typeof createResolutions>

export function createResolutions(deps: {
  readonly domain: IntentDomain
  /** The owner of the escrow's platform at the chain's head: asked for once a block, however many send resolutions. */
  readonly ownerOf: (escrow: Hex) => Promise<Hex>
  readonly run: SealedJobs['run']
  readonly onResolved: () => void
}) {
  const { domain, ownerOf, run, onResolved } = deps
  return {
    /**
     * Resolves once the enclave has applied it. Only the owner's signature of the envelope starts a run, until it expires by this
     * machine's clock; the enclave goes by the chain's time.
     * @throws JobRefusal, StorageError, ChainUnavailableError
     */
    async apply({ sig, validBefore, ...envelope }: PostResolution): Promise<Resolved> {
      const signer = signerOf(sealedResolutionDigest(envelope, validBefore, domain), sig)
      if (signer === undefined) throw notApplied('invalid-signature')
      if (Date.now() >= validBefore * 1_000) throw notApplied('expired')
      if (!sameAddress(await ownerOf(domain.escrow), signer)) throw notApplied('not-owner')
      const { outcome, code } = resultOf(await run(envelope, { owner: signer }))
      if (outcome !== 'done') throw notApplied(code ?? 'invalid-resolution')
      onResolved()
      return { result: 'done' }
    },
  }
}

const notApplied = (reason: string) => new JobRefusal('resolution-rejected', reason)
