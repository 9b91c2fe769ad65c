import { type JsonRpcApiProvider, toBeHex } from 'ethers'
import { targetOf } from '../../src/chain/authorizationCall.js'
import { createContracts, createOrderEscrow } from '../../src/chain/contracts.js'
import { checksum, sameAddress } from '../../src/protocol/address.js'
import type { ContractAddresses } from '../../src/protocol/api.js'
import {
  type Authorization,
  type AuthorizationDomain,
  authorizationDigest,
  signAuthorization,
} from '../../src/protocol/authorization.js'
import { authorizationTargets, authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import { type Hex, hexToBytes, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { keccak256 } from '../../src/protocol/keccak.js'
import { partsOf, portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import type { PrimaryType } from '../../src/protocol/primaryTypes.js'
import type { ContractKey, TestChain } from './chain.js'
import { ENCLAVE_KEY } from './roles.js'

/** The message of an authorization of that type. */
export type Message<T extends PrimaryType> = Extract<Authorization, { primaryType: T }>['message']

export const ENCLAVE_BLOB: Hex = '0x01e0'
export const USER_BLOB: Hex = '0x01f0'
/** The first write of a portfolio. */
const FIRST_WRITE = {
  version: 1n,
  previous: ZERO_BYTES32,
  actions: ZERO_BYTES32,
  enclaveBlob: ENCLAVE_BLOB,
  userBlob: USER_BLOB,
}
/** The first batch of a symbol. */
const FIRST_BATCH = { expectedSupply: 0n, batch: 1n, countedUntil: 0n, actions: ZERO_BYTES32 }

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

/** An order as the escrow has it, and as each authorization for it must name it. */
export type BoundOrder = Pick<Message<'OrderRefund'>, 'orderId' | 'account' | 'asset' | 'amount' | 'commit'>

/** The order as it is on the chain now. */
export async function orderOf(chain: TestChain, orderId: Hex): Promise<BoundOrder> {
  const escrow = createOrderEscrow(chain.provider, chain.addresses.orderEscrow)
  const { account, amount, commit, symbol, shares } = await escrow.orders(orderId)
  if (shares > 0n) return { orderId, account, asset: symbol, amount: shares, commit }
  return { orderId, account, asset: amount === 0n ? ZERO_BYTES32 : nameToBytes32('USDC'), amount, commit }
}

/** Settles without a payout, as the first write of the account, unless told otherwise. */
export function settlement(
  order: BoundOrder,
  changes: Partial<Message<'OrderSettlement'>> = {},
): Authorization {
  return {
    primaryType: 'OrderSettlement',
    message: { ...order, payoutAsset: ZERO_BYTES32, payout: 0n, ...FIRST_WRITE, ...changes },
  }
}

/** Refunds and writes the account's first portfolio, unless told otherwise. */
export function refund(order: BoundOrder, changes: Partial<Message<'OrderRefund'>> = {}): Authorization {
  return { primaryType: 'OrderRefund', message: { ...order, ...FIRST_WRITE, ...changes } }
}

/** Writes the account's first portfolio for an open order, unless told otherwise. */
export function portfolioUpdate(
  order: BoundOrder,
  changes: Partial<Message<'PortfolioUpdate'>> = {},
): Authorization {
  return { primaryType: 'PortfolioUpdate', message: { ...order, state: 1n, ...FIRST_WRITE, ...changes } }
}

/** The approved move of a wallet's portfolio, as an authorization names it. */
export async function approvalOf(chain: TestChain, from: Hex) {
  const { registry } = createContracts(chain.provider, chain.addresses)
  const { effectiveAt = 0, userPubKey = '0x' } = (await registry.moveOf(from)) ?? {}
  return { effectiveAt: BigInt(effectiveAt), userPubKeyHash: keccak256(hexToBytes(userPubKey)) }
}

/** Moves the whole of a portfolio that was written once to a wallet without one, unless told otherwise. */
export function portfolioMove(
  wallets: Pick<Message<'PortfolioMove'>, 'from' | 'to' | 'effectiveAt' | 'userPubKeyHash'>,
  changes: Partial<Message<'PortfolioMove'>> = {},
): Authorization {
  const write = { ...FIRST_WRITE, version: 2n, previous: portfolioHashAfter(ZERO_BYTES32, FIRST_WRITE) }
  const own = {
    ...{ toVersion: 1n, toPrevious: ZERO_BYTES32 },
    ...{ toEnclaveBlob: ENCLAVE_BLOB, toUserBlob: USER_BLOB },
  }
  return {
    primaryType: 'PortfolioMove',
    message: { ...wallets, partsLeft: 0n, ...write, ...own, ...changes },
  }
}

/** A local chain on which {@link grantOrders} can write. */
export interface GrantingChain {
  readonly provider: JsonRpcApiProvider
  readonly addresses: Pick<ContractAddresses, 'orderEscrow'>
}

/** Where the escrow's mapping of orders is in its storage; {@link grantOrders} proves it by reading. */
const ORDERS_SLOT = 7n
const OPEN = 1n

/** The request that {@link grantOrders} gives an account: an order of nothing, which stays open. */
export function grantedOrder(account: Hex): BoundOrder {
  return {
    orderId: keccak256(hexToBytes(account)),
    account: checksum(account),
    asset: ZERO_BYTES32,
    amount: 0n,
    commit: ZERO_BYTES32,
  }
}

/**
 * Gives each account an open request, written into the node's storage: for tests that need many accounts' portfolios
 * written, and not how their orders were opened. Then `portfolioUpdate(grantedOrder(account))` is taken. A
 * reorganization back to the block that is mined last here leaves them as they are.
 */
export async function grantOrders(
  { provider, addresses }: GrantingChain,
  accounts: readonly Hex[],
): Promise<void> {
  const escrow = createOrderEscrow(provider, addresses.orderEscrow)
  await Promise.all(
    accounts.map((account) => {
      const { orderId } = grantedOrder(account)
      // Found by the first half of its id; the second half is the high half of the word behind account, deadline and state.
      const [head, tail] = [orderId.slice(2, 34), orderId.slice(34)]
      const slot = keccak256(
        hexToBytes(`0x${head.padEnd(64, '0')}${ORDERS_SLOT.toString(16).padStart(64, '0')}`),
      )
      // account (20 bytes), deadline (5), state (1), from the word's low end.
      const word = BigInt(account) | (OPEN << 200n)
      const words = [word.toString(16).padStart(64, '0'), tail.padEnd(64, '0')]
      return Promise.all(
        words.map((digits, index) =>
          provider.send('anvil_setStorageAt', [
            addresses.orderEscrow,
            toBeHex(BigInt(slot) + BigInt(index), 32),
            `0x${digits}`,
          ]),
        ),
      )
    }),
  )
  const [first] = accounts
  if (first === undefined) return
  await provider.send('evm_mine', [])
  const granted = await escrow.orders(grantedOrder(first).orderId)
  if (granted.state !== 'OPEN' || !sameAddress(granted.account, first)) {
    throw new Error('the escrow keeps its orders elsewhere: correct ORDERS_SLOT')
  }
}

/** Writes the institution's first rulebook, unless told otherwise. */
export function policyUpdate(
  orgId: Hex,
  admin: Hex,
  changes: Partial<Message<'PolicyUpdate'>> = {},
): Authorization {
  const { policyBlob = '0x01' } = changes
  const whole = { part: 0n, parts: 1n, digest: partsOf(policyBlob).digest }
  return {
    primaryType: 'PolicyUpdate',
    message: { orgId, admin, version: 1n, ...whole, policyBlob, ...changes },
  }
}

/** Mints the symbol's first batch, unless told otherwise. */
export function batchMint(
  symbol: Hex,
  amount: bigint,
  changes: Partial<Message<'BatchMint'>> = {},
): Authorization {
  return {
    primaryType: 'BatchMint',
    message: { symbol, amount, ...FIRST_BATCH, ...changes },
  }
}

/** Burns as the symbol's first batch, unless told otherwise. */
export function batchBurn(
  symbol: Hex,
  amount: bigint,
  changes: Partial<Message<'BatchBurn'>> = {},
): Authorization {
  return {
    primaryType: 'BatchBurn',
    message: { symbol, amount, ...FIRST_BATCH, ...changes },
  }
}

/** The account's portfolio after so many of the writes of {@link ENCLAVE_BLOB} and {@link USER_BLOB}. */
export function afterWrites(count: bigint) {
  let previous = ZERO_BYTES32
  for (let version = 1n; version <= count; version++) {
    previous = portfolioHashAfter(previous, { version, enclaveBlob: ENCLAVE_BLOB, userBlob: USER_BLOB })
  }
  return { version: count + 1n, previous }
}
