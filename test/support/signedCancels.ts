import {
  cancelIntentMessage,
  cancelIntentTypes,
  type PostCancel,
  sealCancel,
  sealedCancelMessage,
  sealedCancelTypes,
} from '../../src/protocol/cancelIntent.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type IntentDomain, intentDomain } from '../../src/protocol/intentDomain.js'
import { publicKeySchema } from '../../src/protocol/point.js'
import type { TestChain } from './chain.js'
import type { Role } from './roles.js'
import { SERVER_ENVIRONMENT } from './serverEnvironment.js'

/**
 * The body of a cancel by a role's wallet; `domain` makes it one for elsewhere, `signs` one whose outer signature names another order, and
 * `owner` one of a contract wallet, whose owner signs twice.
 */
export async function signedCancel(
  chain: TestChain,
  role: Role,
  orderId: Hex,
  other: { domain?: IntentDomain; signs?: Hex; owner?: Role } = {},
): Promise<PostCancel> {
  const { domain = { chainId: chain.anvil.chainId, escrow: chain.addressOf('escrow') } } = other
  const account = chain.account(role)
  const signer = await chain.provider.getSigner(chain.account(other.owner ?? role))
  const sign = async (
    ...typed: [Record<string, { name: string; type: string }[]>, Record<string, unknown>]
  ) => {
    const signature = await signer.signTypedData(intentDomain(domain), ...typed)
    return `0x${signature.slice(2).repeat(other.owner ? 2 : 1)}` as const
  }
  const sig = await sign(cancelIntentTypes, cancelIntentMessage({ orderId, account }))
  const key = publicKeySchema.parse(SERVER_ENVIRONMENT.INTENT_PUBKEY)
  const envelope = await sealCancel({ orderId, account, sig }, key, domain)
  return {
    ...envelope,
    sig: await sign(sealedCancelTypes, sealedCancelMessage(other.signs ?? orderId, envelope)),
  }
}
