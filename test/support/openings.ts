import { Signature, TypedDataEncoder } from 'ethers'
import { type Hex, hexBetween } from '../../src/protocol/hex.js'
import { type OpeningPlace, type OrderOpening, openingDigest } from '../../src/protocol/opening.js'
import { signDigest } from '../../src/protocol/signDigest.js'
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

const PERMIT = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
}

interface Permit {
  readonly spender: Hex
  readonly value: bigint
  /** Unix seconds. */
  readonly deadline: bigint
  readonly nonce?: bigint
  /** Default: the owner. */
  readonly signer?: Role
  /** Default: AAPL's shares. */
  readonly domain?: { readonly name: string; readonly verifyingContract: Hex }
}

/** A signed permit (https://eips.ethereum.org/EIPS/eip-2612) of shares: the arguments of `permit`. */
export function permitOf(
  chain: TestChain,
  role: Role,
  { spender, value, deadline, nonce = 0n, signer = role, domain }: Permit,
): unknown[] {
  const owner = chain.account(role)
  const whole = {
    ...{ name: 'AAPL', verifyingContract: chain.addressOf('aapl'), ...domain },
    ...{ version: '1', chainId: chain.anvil.chainId },
  }
  const message = { owner, spender, value, nonce, deadline }
  const digest = hexBetween(32, 32).parse(TypedDataEncoder.hash(whole, PERMIT, message))
  const { v, r, s } = Signature.from(signDigest(digest, keyOf(chain, signer)))
  return [owner, spender, value, deadline, v, r, s]
}
