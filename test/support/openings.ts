import type { Hex } from '../../src/protocol/hex.js'
import { type OpeningPlace, type OrderOpening, openingDigest } from '../../src/protocol/opening.js'
import { signDigest } from '../../src/protocol/signature.js'
import type { TestChain } from './chain.js'
import { ROLES, type Role } from './roles.js'

/** The domain of the sandbox's USDC. */
export const USDC_DOMAIN = { name: 'USD Coin (test)', version: '2' }

/** The private key of a role's account. */
export function keyOf(chain: TestChain, role: Role): Hex {
  const found = chain.anvil.accounts[ROLES.indexOf(role)]
  if (!found) throw new Error(`the chain has no account for ${role}`)
  return found.privateKey
}

/** Where the chain's contracts check the signatures of openings. */
export function openingPlace(chain: TestChain): OpeningPlace {
  return {
    chainId: chain.anvil.chainId,
    escrow: chain.addressOf('escrow'),
    usdc: { address: chain.addressOf('usdc'), ...USDC_DOMAIN },
  }
}

/** The account's signature of the opening, by another key or for another place if given. */
export function signOpening(
  chain: TestChain,
  order: OrderOpening,
  { key, place = openingPlace(chain) }: { key: Hex; place?: OpeningPlace | undefined },
): Hex {
  return signDigest(openingDigest(order, place), key)
}

/** The call that opens the order: arguments for `send` and `revert` of a test chain. */
export type OpeningCall = [contract: 'escrow', method: string, struct: unknown[], signature: Hex]

export function openingCall(order: OrderOpening, signature: Hex): OpeningCall {
  const { account, orderId, commit, amount, deadline, validBefore } = order
  if (amount === 0n) {
    return ['escrow', 'openRequestFor', [account, orderId, commit, deadline, validBefore], signature]
  }
  return ['escrow', 'openBuyFor', [account, orderId, commit, amount, deadline, validBefore], signature]
}
