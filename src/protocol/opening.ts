// Opens an order's escrow without a transaction of its account: one typed-data signature, which anyone may send.
import type { TypedDataDomain } from 'ethers'
import type { Hex } from './hex.js'
import { structHash, typedDataDigest } from './typedData.js'

/** An order as the signature of its opening fixes it. */
export interface OrderOpening {
  readonly account: Hex
  readonly orderId: Hex
  /** `keccak256(ct)` of its envelope. */
  readonly commit: Hex
  /** USDC base units; 0 for a request. */
  readonly amount: bigint
  /** Unix seconds, as the intent's `expiry`. */
  readonly deadline: number
  /** Unix seconds of the chain's time, from which on the signature opens nothing. */
  readonly validBefore: number
}

/** The contracts that check the signature of an opening. */
export interface OpeningPlace {
  readonly chainId: number
  /** Address of `OrderEscrow`. */
  readonly escrow: Hex
  /** USDC's address, and the name and version of its EIP-712 domain: `name()` and `version()`. */
  readonly usdc: { readonly address: Hex; readonly name: string; readonly version: string }
}

/** EIP-3009, in USDC's domain. https://eips.ethereum.org/EIPS/eip-3009 */
export const receiveWithAuthorizationTypes = {
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
}

/** In the domain of `OrderEscrow`. */
export const requestOpeningTypes = {
  RequestOpening: [
    { name: 'account', type: 'address' },
    { name: 'orderId', type: 'bytes32' },
    { name: 'commit', type: 'bytes32' },
    { name: 'deadline', type: 'uint64' },
    { name: 'validBefore', type: 'uint64' },
  ],
}

const buyOpeningTypes = {
  BuyOpening: [
    { name: 'orderId', type: 'bytes32' },
    { name: 'commit', type: 'bytes32' },
    { name: 'deadline', type: 'uint64' },
  ],
}

/** The nonce of the authorization that opens a buy, as `OrderEscrow.buyNonce` computes it: the members that USDC does not know. */
export function buyNonce({
  orderId,
  commit,
  deadline,
}: Pick<OrderOpening, 'orderId' | 'commit' | 'deadline'>): Hex {
  return structHash(buyOpeningTypes, { orderId, commit, deadline })
}

/** The typed-data message that opens the order, as wallets sign it: USDC's authorization for a buy, else the escrow's own. */
export function openingTypedData(
  order: OrderOpening,
  { chainId, escrow, usdc }: OpeningPlace,
): {
  readonly domain: TypedDataDomain
  readonly types: Record<string, { name: string; type: string }[]>
  readonly message: Record<string, string | number | bigint>
} {
  const { account, orderId, commit, amount, deadline, validBefore } = order
  if (amount === 0n) {
    return {
      domain: { name: 'OrderEscrow', version: '1', chainId, verifyingContract: escrow },
      types: requestOpeningTypes,
      message: { account, orderId, commit, deadline, validBefore },
    }
  }
  const nonce = buyNonce(order)
  return {
    domain: { name: usdc.name, version: usdc.version, chainId, verifyingContract: usdc.address },
    types: receiveWithAuthorizationTypes,
    message: { from: account, to: escrow, value: amount, validAfter: 0, validBefore, nonce },
  }
}

/** The EIP-712 digest that the account's wallet signs. */
export function openingDigest(order: OrderOpening, place: OpeningPlace): Hex {
  const { domain, types, message } = openingTypedData(order, place)
  return typedDataDigest(domain, types, message)
}
