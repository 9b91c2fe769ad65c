import type { Envelope } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type IntentDomain, intentDomain } from '../../src/protocol/intentDomain.js'
import { envelopeHash, type PostPolicy, sealedRulebookTypes } from '../../src/protocol/sealedRulebook.js'
import type { TestChain } from './chain.js'
import type { Role } from './roles.js'

/**
 * The body of `POST /policy` with the signature of a role's wallet outside the seal; `domain` makes it one for elsewhere, and `twice` one
 * of a contract wallet that belongs to the role.
 */
export async function signedRulebook(
  chain: TestChain,
  role: Role,
  { orgId, envelope, ...other }: { orgId: Hex; envelope: Envelope; domain?: IntentDomain; twice?: boolean },
): Promise<PostPolicy> {
  const { domain = { chainId: chain.anvil.chainId, escrow: chain.addressOf('escrow') } } = other
  const signer = await chain.provider.getSigner(chain.account(role))
  const message = { orgId, envelopeHash: envelopeHash(envelope) }
  const signature = await signer.signTypedData(intentDomain(domain), sealedRulebookTypes, message)
  return { ...envelope, author: { orgId, sig: `0x${signature.slice(2).repeat(other.twice ? 2 : 1)}` } }
}
