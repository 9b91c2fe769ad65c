import { targetOf } from '../../src/chain/authorizationCall.js'
import {
  type Authorization,
  type AuthorizationDomain,
  authorizationDigest,
  signAuthorization,
} from '../../src/protocol/authorization.js'
import {
  authorizationTargets,
  authorizationTypes,
  type PrimaryType,
} from '../../src/protocol/authorizationTypes.js'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import type { ContractKey, TestChain } from './chain.js'
import { ENCLAVE_KEY } from './roles.js'

/** The message of an authorization of that type. */
export type Message<T extends PrimaryType> = Extract<Authorization, { primaryType: T }>['message']

export const ENCLAVE_BLOB: Hex = '0x01e0'
export const USER_BLOB: Hex = '0x01f0'
const BLOBS = { enclaveBlob: ENCLAVE_BLOB, userBlob: USER_BLOB }

/** The call that carries an authorization: arguments for `send` and `revert` of a test chain. */
export type Call = [contract: ContractKey, method: string, struct: unknown[], signature: Hex]

const KEYS = { ConfidentialLedger: 'ledger', OrderEscrow: 'escrow', PlatformPool: 'pool' } as const

/** The domain that the chain's contract for that type checks signatures in. */
export function domainOf(chain: TestChain, primaryType: PrimaryType): AuthorizationDomain {
  return { chainId: chain.anvil.chainId, verifyingContract: targetOf(primaryType, chain.addresses) }
}

/** The struct as the ABI wants it: its values in the order of its fields. */
export function structOf({ primaryType, message }: Authorization): unknown[] {
  const values = new Map<string, unknown>(Object.entries(message))
  return authorizationTypes[primaryType].map(({ name }) => values.get(name))
}

/** The call with this very signature. */
export function callWith(authorization: Authorization, signature: Hex): Call {
  const { contract, method } = authorizationTargets[authorization.primaryType]
  return [KEYS[contract], method, structOf(authorization), signature]
}

/** The call with a good signature, by another key or in another domain if given. */
export function signedCall(
  chain: TestChain,
  authorization: Authorization,
  { key = ENCLAVE_KEY, domain = domainOf(chain, authorization.primaryType) } = {},
): Call {
  return callWith(authorization, signAuthorization(authorization, domain, key).signature)
}

/** The digest that the contract marks as used. */
export function digestOf(chain: TestChain, authorization: Authorization): Hex {
  return authorizationDigest(authorization, domainOf(chain, authorization.primaryType))
}

/** Settles without a payout, as the first write of the account, unless told otherwise. */
export function settlement(orderId: Hex, changes: Partial<Message<'OrderSettlement'>> = {}): Authorization {
  const payoutAsset: Hex = `0x${'00'.repeat(32)}`
  return {
    primaryType: 'OrderSettlement',
    message: { orderId, payoutAsset, payout: 0n, version: 1n, ...BLOBS, ...changes },
  }
}

/** Refunds and writes the account's first portfolio, unless told otherwise. */
export function refund(orderId: Hex, changes: Partial<Message<'OrderRefund'>> = {}): Authorization {
  return { primaryType: 'OrderRefund', message: { orderId, version: 1n, ...BLOBS, ...changes } }
}

/** Writes the account's first portfolio, unless told otherwise. */
export function portfolioUpdate(
  account: Hex,
  changes: Partial<Message<'PortfolioUpdate'>> = {},
): Authorization {
  return {
    primaryType: 'PortfolioUpdate',
    message: { accountId: accountIdOf(account), version: 1n, ...BLOBS, ...changes },
  }
}

/** Writes the institution's first rulebook, unless told otherwise. */
export function policyUpdate(
  orgId: Hex,
  admin: Hex,
  changes: Partial<Message<'PolicyUpdate'>> = {},
): Authorization {
  return {
    primaryType: 'PolicyUpdate',
    message: { orgId, admin, version: 1n, policyBlob: '0x01', ...changes },
  }
}

/** Mints the symbol's first batch, unless told otherwise. */
export function batchMint(
  symbol: Hex,
  amount: bigint,
  changes: Partial<Message<'BatchMint'>> = {},
): Authorization {
  return { primaryType: 'BatchMint', message: { symbol, amount, expectedSupply: 0n, batch: 1n, ...changes } }
}

/** Burns as the symbol's first batch, unless told otherwise. */
export function batchBurn(
  symbol: Hex,
  amount: bigint,
  changes: Partial<Message<'BatchBurn'>> = {},
): Authorization {
  return { primaryType: 'BatchBurn', message: { symbol, amount, expectedSupply: 0n, batch: 1n, ...changes } }
}
