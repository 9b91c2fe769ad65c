import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockTag } from 'ethers'
import type { Contracts } from '../../chain/contracts.js'
import { sameAddress, ZERO_ADDRESS } from '../../protocol/address.js'
import type { PolicyVersion } from '../../protocol/api.js'
import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import type { RunResult } from '../../protocol/job.js'
import {
  envelopeHash,
  type PostPolicy,
  type RulebookAuthor,
  sealedRulebookDigest,
} from '../../protocol/sealedRulebook.js'
import { type ChainHead, ifRegistered } from '../reads/chainHead.js'
import type { SealedJobs } from '../trigger/sealedJobs.js'
import { JobRefusal, resultOf, signerOf } from './jobResult.js'

/**
 * Checks that an institution's admin signed an envelope; the enclave checks the rulebook inside by itself. The check decides
 * which queue the envelope waits in, and keeps a wrong signature from starting a run.
 *
 * @throws JobRefusal with the enclave's own reasons `invalid-signature`, `unknown-institution` and `not-admin`;
 *   ChainUnavailableError
 */
type CheckAuthor = (envelope: Envelope, author: RulebookAuthor) => Promise<void>

/** A signature costs a hash and a recovery, and at most one read per block for each institution that senders name. */
export function createAuthorCheck(deps: {
  readonly domain: IntentDomain
  /** The admin at the chain's head, zero for an institution that has none. It is asked for once a block and institution. */
  readonly adminOf: (orgId: Hex) => Promise<Hex>
}): CheckAuthor {
  const { domain, adminOf } = deps
  return async (envelope, { orgId, sig }) => {
    const digest = sealedRulebookDigest({ orgId, envelopeHash: envelopeHash(envelope) }, domain)
    const signer = signerOf(digest, sig)
    if (signer === undefined) throw rejected('invalid-signature')
    const admin = await adminOf(orgId)
    if (admin === ZERO_ADDRESS) throw rejected('unknown-institution')
    if (!sameAddress(admin, signer)) throw rejected('not-admin')
  }
}

function rejected(reason: 'invalid-signature' | 'unknown-institution' | 'not-admin'): JobRefusal {
  return new JobRefusal({ code: 'policy-rejected', reason })
}

/** The version of an institution's rulebook at a block, 0 before the first. Null when the institution is not registered. */
export function createPolicyVersionView({
  registry,
  ledger,
}: Pick<Contracts, 'registry' | 'ledger'>): (orgId: Hex, block: BlockTag) => Promise<PolicyVersion | null> {
  return ifRegistered(registry, async (orgId, block) => {
    const [admin, version] = await Promise.all([
      registry.adminOf(orgId, block),
      ledger.policyVersion(orgId, block),
    ])
    return admin === ZERO_ADDRESS ? null : { orgId, version }
  })
}

/** The publication of sealed rulebooks. */
export type Policy = ReturnType<typeof createPolicy>

/** The enclave has seen the transaction on its own node; ours may be a few blocks behind. */
const CONFIRM_ATTEMPTS = 20
const CONFIRM_PAUSE_MS = 250

export function createPolicy(deps: {
  /** Runs the enclave on a rulebook; see `SealedJobs`. */
  readonly run: SealedJobs['run']
  readonly checkAuthor: CheckAuthor
  readonly head: Pick<ChainHead, 'current'>
  readonly ledger: { policyVersion(orgId: Hex): Promise<number> }
  /** Called when a new version has been seen on the chain. */
  readonly onPublished: () => void
}) {
  const { run, checkAuthor, head, ledger, onPublished } = deps
  async function isOnChain({ orgId, version }: PolicyVersion): Promise<boolean> {
    for (let attempt = 1; attempt <= CONFIRM_ATTEMPTS; attempt++) {
      if ((await ledger.policyVersion(orgId)) >= version) return true
      await sleep(CONFIRM_PAUSE_MS)
    }
    return false
  }

  return {
    /**
     * Has the enclave publish a rulebook; resolves once the new version is on the chain. Starts no run while no node answers,
     * because the run could only fail.
     * @param client the poster, see `clientOf`
     * @throws JobRefusal, StorageError, ChainUnavailableError
     */
    async publish({ author, ...envelope }: PostPolicy, client: string): Promise<PolicyVersion> {
      await head.current()
      if (author !== undefined) await checkAuthor(envelope, author)
      const sender = author === undefined ? { client } : { institution: author.orgId }
      const published = publishedBy(resultOf(await run(envelope, sender)))
      if (!(await isOnChain(published))) throw new JobRefusal({ code: 'not-on-chain' })
      onPublished()
      return published
    },
  }
}

function publishedBy({ outcome, orgId, version, code }: RunResult): PolicyVersion {
  if (outcome === 'accepted' && orgId !== undefined && version !== undefined) return { orgId, version }
  if (outcome === 'rejected' && code !== undefined) {
    throw new JobRefusal({ code: 'policy-rejected', reason: code })
  }
  throw new JobRefusal({ code: 'enclave-failed' })
}
