// The author of an envelope, and the result of a sealed job.
import { ProtocolError } from '../../protocol/errors.js'
import type { Hex } from '../../protocol/hex.js'
import type { RunResult } from '../../protocol/job.js'
import { recoverAddress } from '../../protocol/signature.js'
import type { RunEnd } from '../trigger/runner.js'
import type { SealedJobEnd } from '../trigger/sealedJobs.js'

/** Why no new version of a rulebook is on the chain, or why a resolution has no effect. */
type JobRefusalReason =
  | { readonly code: 'enclave-busy' | 'enclave-failed' | 'enclave-timeout' | 'shutting-down' }
  | { readonly code: 'chain-unavailable' | 'not-on-chain' }
  /** With the enclave's own code. */
  | { readonly code: 'policy-rejected' | 'resolution-rejected'; readonly reason: string }
  | {
      readonly code: 'relay-quota-exhausted' | 'relay-budget-exhausted' | 'platform-paused'
      /** Unix seconds. */
      readonly retryAt: number | undefined
    }

export class JobRefusal extends Error {
  override readonly name = 'JobRefusal'
  readonly reason: JobRefusalReason

  constructor(reason: JobRefusalReason) {
    super(`sealed job not carried out: ${reason.code}`)
    this.reason = reason
  }
}

/** The author of an envelope, by the signature outside the seal; undefined for a signature that recovers to no key. */
export function signerOf(digest: Hex, sig: Hex): Hex | undefined {
  try {
    return recoverAddress(digest, sig)
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

/** What the enclave decided. @throws JobRefusal when it decided nothing */
export function resultOf(end: SealedJobEnd): RunResult {
  switch (end.how) {
    case 'too-many-waiting':
      throw new JobRefusal({ code: 'enclave-busy' })
    case 'stopping':
      throw new JobRefusal({ code: 'shutting-down' })
    case 'no-permit-in-time':
    case 'timeout':
      throw new JobRefusal({ code: 'enclave-timeout' })
    default:
      return decidedBy(end)
  }
}

function decidedBy({ how, result }: RunEnd): RunResult {
  if (how === 'result' && result !== null) {
    const { outcome, code, retryAt } = result
    if (outcome !== 'failed') return result
    // It ended itself before it was stopped: as with any time-out, the relay may yet accept its authorization.
    if (code === 'out-of-time') throw new JobRefusal({ code: 'enclave-timeout' })
    if (code === 'chain-unavailable') throw new JobRefusal({ code })
    if (code === 'paused') throw new JobRefusal({ code: 'platform-paused', retryAt })
    if (code === 'relay-quota-exhausted' || code === 'relay-budget-exhausted') {
      throw new JobRefusal({ code, retryAt })
    }
  }
  throw new JobRefusal({ code: 'enclave-failed' })
}
