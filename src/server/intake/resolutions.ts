import type { BlockTag } from 'ethers'
import { createAuthority, createOrderEscrow } from '../../chain/contracts.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import { sameAddress } from '../../protocol/address.js'
import type { Resolved } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { type PostResolution, sealedResolutionDigest } from '../../protocol/resolution.js'
import type { SealedJobs } from '../trigger/sealedJobs.js'
import { JobRefusal, resultOf, signerOf } from './jobResult.js'

/** Carries what the platform's owner has decided to the enclave; see `Resolution`. */
export type Resolutions = ReturnType<typeof createResolutions>

/** The platform's owner at a block, as the escrow's authority has it. */
export function createOwnerView(rpc: Pick<Rpc, 'send'>): (escrow: Hex, block: BlockTag) => Promise<Hex> {
  const caller = createViewCaller(rpc)
  return async (escrow, block) => {
    const authority = await createOrderEscrow(caller, escrow).authority(block)
    return createAuthority(caller, authority).owner(block)
  }
}

export function createResolutions(deps: {
  readonly domain: IntentDomain
  /** The owner of the escrow's platform at the chain's head: asked for once a block, however many send resolutions. */
  readonly ownerOf: (escrow: Hex) => Promise<Hex>
  readonly run: SealedJobs['run']
  /** Unix milliseconds. */
  readonly now: () => number
  /** Called when a resolution has taken effect. */
  readonly onResolved: () => void
}) {
  const { domain, ownerOf, run, now, onResolved } = deps
  return {
    /**
     * Resolves once the enclave has applied it. Only the owner's signature of the envelope starts a run, until it expires by this
     * machine's clock; the enclave goes by the chain's time.
     * @throws JobRefusal, StorageError, ChainUnavailableError
     */
    async apply({ sig, validBefore, ...envelope }: PostResolution): Promise<Resolved> {
      const signer = signerOf(sealedResolutionDigest(envelope, validBefore, domain), sig)
      if (signer === undefined) throw rejected('invalid-signature')
      if (now() >= validBefore * 1_000) throw rejected('expired')
      if (!sameAddress(await ownerOf(domain.escrow), signer)) throw rejected('not-owner')
      const { outcome, code } = resultOf(await run(envelope, { owner: signer }))
      if (outcome !== 'done') throw rejected(code ?? 'invalid-resolution')
      onResolved()
      return { result: 'done' }
    },
  }
}

function rejected(reason: string): JobRefusal {
  return new JobRefusal({ code: 'resolution-rejected', reason })
}
