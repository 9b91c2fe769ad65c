// Portfolios written on chain as the enclave writes them, past the enclave: for histories that it would not make.
import * as z from 'zod'
import type { Authorization } from '../../../src/protocol/authorization.js'
import { bytesToHex, type Hex, hexToBytes, ZERO_BYTES32 } from '../../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { type OpenOrder, type Portfolio, portfolioSchema } from '../../../src/protocol/portfolio.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import { sealUserBlob } from '../../../src/protocol/userBlob.js'
import { orderOf, portfolioUpdate, refund, settlement, signedCall } from '../../support/authorizations.js'
import { INTERFACES, type TestChain } from '../../support/chain.js'
import { nextWrite } from '../../support/orderEnds.js'

export const SECRET: Hex = `0x${'c3'.repeat(32)}`
export const OTHER_SECRET: Hex = `0x${'c4'.repeat(32)}`
export const USDC = 1_000_000n
export const SHARE = 1_000_000_000n

export const publicKey = (secret: Hex) => publicKeyOf(hexToBytes(secret))
export const emptyOf = (secret: Hex = SECRET): Portfolio => ({
  cash: 0n,
  positions: {},
  openOrders: {},
  nonce: 1,
  userPubKey: publicKey(secret),
})
export const buyOf = (notional: bigint): OpenOrder => ({
  side: 'BUY',
  symbol: 'AAPL',
  notional,
  escrow: notional,
  locked: 0n,
  brokerOrderId: '',
  placedAt: 1,
})

/** An id that begins with its number, because the escrow compares the first half. */
export const idOf = (number: number): Hex => `0x${number.toString(16).padStart(8, '0').repeat(8)}`

/** Opens a buy of Alice, who has USDC and allowed the escrow to take it. */
export async function openBuy(chain: TestChain, orderId: Hex, amount: bigint): Promise<void> {
  const deadline = (await chain.now()) + 3_600
  await chain.send('alice', 'escrow', 'openBuy', orderId, nameToBytes32('commit'), amount, deadline)
}

export async function openRequest(chain: TestChain, orderId: Hex): Promise<void> {
  const deadline = (await chain.now()) + 3_600
  await chain.send('alice', 'escrow', 'openRequest', orderId, nameToBytes32('commit'), deadline)
}

export interface Written {
  readonly does: 'update' | 'settle' | 'refund'
  readonly orderId: Hex
  readonly portfolio: Portfolio
  readonly payout?: { readonly asset: string; readonly amount: bigint }
}

/** The authorization of the next write, or of the one after `after`. */
export async function authorizationOf(
  chain: TestChain,
  { does, orderId, portfolio, payout }: Written,
  after?: { version: bigint; previous: Hex },
): Promise<Authorization> {
  const account = chain.account('alice')
  const { version, previous } = after ?? (await nextWrite(chain, account))
  const value = z.encode(portfolioSchema, portfolio)
  const userBlob = await sealUserBlob(value, portfolio.userPubKey, accountIdOf(account), version)
  const enclaveBlob = bytesToHex(crypto.getRandomValues(new Uint8Array(40)))
  const order = await orderOf(chain, orderId)
  const written = { version, previous, enclaveBlob, userBlob }
  if (does === 'update') return portfolioUpdate(order, written)
  if (does === 'refund') return refund(order, written)
  const payoutAsset = payout ? nameToBytes32(payout.asset) : ZERO_BYTES32
  return settlement(order, { ...written, payoutAsset, payout: payout?.amount ?? 0n })
}

export async function write(chain: TestChain, written: Written): Promise<void> {
  await chain.send('relayer', ...signedCall(chain, await authorizationOf(chain, written)))
}

/** Calldata of the escrow's function that takes the authorization. */
export function callData(chain: TestChain, authorization: Authorization): string {
  const [, method, ...args] = signedCall(chain, authorization)
  return INTERFACES.escrow.encodeFunctionData(method, args)
}
