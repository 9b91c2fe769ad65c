import { sameAddress, ZERO_ADDRESS } from '../../protocol/address.js'
import type { Envelope } from '../../protocol/envelope.js'
import { ProtocolError } from '../../protocol/errors.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { envelopeHash, type RulebookAuthor, sealedRulebookDigest } from '../../protocol/sealedRulebook.js'
import { recoverAddress } from '../../protocol/signature.js'
import { Problem } from '../http/problems.js'

/**
 * Checks that an institution's admin signed an envelope; the enclave checks the rulebook inside by itself. It decides which
 * queue the envelope waits in, and keeps a wrong signature from starting a run.
 *
 * @throws Problem `policy-rejected` with the enclave's own codes `invalid-signature`, `unknown-institution` and `not-admin`;
 *   ChainUnavailableError
 */
export type CheckAuthor = (envelope: Envelope, author: RulebookAuthor) => Promise<void>

interface AuthorDeps {
  readonly domain: IntentDomain
  /** The admin at the chain's head, zero for an institution that has none. It is asked for once a block and institution. */
  readonly adminOf: (orgId: Hex) => Promise<Hex>
}

/** A signature costs a hash and a recovery, and at most one read per block for each institution that senders name. */
export function createAuthorCheck({ domain, adminOf }: AuthorDeps): CheckAuthor {
  return async (envelope, { orgId, sig }) => {
    const signer = signerOf(
      sealedRulebookDigest({ orgId, envelopeHash: envelopeHash(envelope) }, domain),
      sig,
    )
    const admin = await adminOf(orgId)
    if (admin === ZERO_ADDRESS) throw rejected('unknown-institution')
    if (!sameAddress(admin, signer)) throw rejected('not-admin')
  }
}

function signerOf(digest: Hex, sig: Hex): Hex {
  try {
    return recoverAddress(digest, sig)
  } catch (error) {
    if (error instanceof ProtocolError) throw rejected('invalid-signature')
    throw error
  }
}

function rejected(reason: 'invalid-signature' | 'unknown-institution' | 'not-admin'): Problem {
  return new Problem('policy-rejected', { extensions: { reason } })
}
