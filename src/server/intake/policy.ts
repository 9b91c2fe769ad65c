import { setTimeout as sleep } from 'node:timers/promises'
import type { PolicyVersion } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { PostPolicy } from '../../protocol/sealedRulebook.js'
import { Problem } from '../http/problems.js'
import type { ChainHead } from '../reads/chainHead.js'
import type { PolicyRunEnd, PolicyRuns } from '../trigger/policyRuns.js'
import type { RunEnd } from '../trigger/runner.js'
import type { CheckAuthor } from './rulebookAuthor.js'

/** Publishing sealed rulebooks. */
export interface Policy {
  /**
   * Has the enclave publish a rulebook; resolves once the new version is on the chain. Starts nothing while the chain
   * can't be reached: the run could only fail.
   * @param client who posted it: see `clientOf`
   * @throws Problem `policy-rejected`, `relay-quota-exhausted`, `relay-budget-exhausted`, `platform-paused`, `enclave-failed`, `enclave-timeout`, `enclave-busy`, `shutting-down`;
   *   StorageError, ChainUnavailableError
   */
  publish(rulebook: PostPolicy, client: string): Promise<PolicyVersion>
}

interface PolicyDeps {
  /** Runs the enclave on a rulebook; see `PolicyRuns`. */
  readonly run: PolicyRuns['run']
  readonly checkAuthor: CheckAuthor
  readonly head: Pick<ChainHead, 'current'>
  readonly ledger: { policyVersion(orgId: Hex): Promise<number> }
  /** A new version has been seen on the chain. */
  readonly onPublished: () => void
}

/** The enclave has seen the transaction on its own node; ours may be a few blocks behind. */
const CONFIRM_ATTEMPTS = 20
const CONFIRM_PAUSE_MS = 250

export function createPolicy({ run, checkAuthor, head, ledger, onPublished }: PolicyDeps): Policy {
  async function isOnChain({ orgId, version }: PolicyVersion): Promise<boolean> {
    for (let attempt = 1; attempt <= CONFIRM_ATTEMPTS; attempt++) {
      if ((await ledger.policyVersion(orgId)) >= version) return true
      await sleep(CONFIRM_PAUSE_MS)
    }
    return false
  }

  return {
    async publish({ author, ...envelope }, client) {
      await head.current()
      if (author !== undefined) await checkAuthor(envelope, author)
      const sender = author === undefined ? { client } : { institution: author.orgId }
      const published = toPublished(await run(envelope, sender))
      if (!(await isOnChain(published))) {
        throw new Problem('enclave-failed', { detail: 'The rulebook is not on the chain.' })
      }
      onPublished()
      return published
    },
  }
}

function toPublished(end: PolicyRunEnd): PolicyVersion {
  switch (end.how) {
    case 'too-many-waiting':
      throw new Problem('enclave-busy')
    case 'stopping':
      throw new Problem('shutting-down')
    case 'no-slot-in-time':
    case 'timeout':
      throw new Problem('enclave-timeout')
    default:
      return publishedBy(end)
  }
}

function publishedBy({ how, result }: RunEnd): PolicyVersion {
  if (how === 'result' && result !== null) {
    const { outcome, orgId, version, code, retryAt } = result
    if (outcome === 'accepted' && orgId !== undefined && version !== undefined) return { orgId, version }
    if (outcome === 'rejected' && code !== undefined) {
      throw new Problem('policy-rejected', { extensions: { reason: code } })
    }
    // It ended itself before it was stopped: as with any time-out, what it signed may yet be accepted.
    if (code === 'out-of-time') throw new Problem('enclave-timeout')
    if (code === 'chain-unavailable') throw new Problem('chain-unavailable')
    if (code === 'relay-quota-exhausted') {
      throw new Problem(code, { ...retryAfter(retryAt), extensions: { quota: 'institution' } })
    }
    if (code === 'paused') throw new Problem('platform-paused', retryAfter(retryAt))
    if (code === 'relay-budget-exhausted') throw new Problem(code, retryAfter(retryAt))
  }
  throw new Problem('enclave-failed')
}

/** @param at Unix seconds */
function retryAfter(at: number | undefined): { headers?: Record<string, string> } {
  if (at === undefined) return {}
  return { headers: { 'Retry-After': String(Math.max(1, Math.ceil(at - Date.now() / 1_000))) } }
}
