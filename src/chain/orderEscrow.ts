import type { BlockTag } from 'ethers'
import { z } from 'zod'
import type { OrderState } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { createContractReader, type ViewCaller } from './contractReader.js'
import { orderEscrowAbi } from './generated/orderEscrowAbi.js'
import { addressValue, boolValue, bytes32Value, numberValue, uintValue } from './values.js'

/** The contract's enum, in its order. */
const STATES: readonly OrderState[] = ['NONE', 'OPEN', 'SETTLED', 'REFUNDED']

/** An order on chain; `state` NONE when there is none. */
export interface EscrowedOrder {
  account: Hex
  /** USDC base units; 0 for a request. */
  amount: bigint
  /** Unix seconds. */
  deadline: number
  commit: Hex
  /** The account's institution when it opened the order. */
  orgId: Hex
  state: OrderState
}

const orderValue: z.ZodType<EscrowedOrder> = z.object({
  account: addressValue,
  amount: uintValue,
  deadline: numberValue,
  commit: bytes32Value,
  orgId: bytes32Value,
  state: numberValue.transform((index, context): OrderState => {
    const state = STATES[index]
    if (state) return state
    context.addIssue({ code: 'custom', message: 'unknown order state' })
    return z.NEVER
  }),
})

/** Views of `OrderEscrow`. */
export interface OrderEscrow {
  readonly address: Hex
  orders(orderId: Hex, block?: BlockTag): Promise<EscrowedOrder>
  /** How many orders are open. */
  openOrders(block?: BlockTag): Promise<number>
  openOrdersOf(orgId: Hex, block?: BlockTag): Promise<number>
  /** USDC base units of all open orders. */
  escrowed(block?: BlockTag): Promise<bigint>
  /** What an account could not receive of an asset (`USDC` or a symbol, as bytes32), in base units. */
  claims(account: Hex, asset: Hex, block?: BlockTag): Promise<bigint>
  /** The sum of all claims in an asset. */
  claimed(asset: Hex, block?: BlockTag): Promise<bigint>
  /** The account whose order has these first 16 bytes in its id; the zero address when there is none. */
  takenBy(prefix: Hex, block?: BlockTag): Promise<Hex>
  /** Unix seconds of the block that the contract was created in. */
  deployedAt(block?: BlockTag): Promise<number>
  authority(block?: BlockTag): Promise<Hex>
  usdc(block?: BlockTag): Promise<Hex>
  usedDigest(digest: Hex, block?: BlockTag): Promise<boolean>
}

export function createOrderEscrow(caller: ViewCaller, address: Hex): OrderEscrow {
  const { read } = createContractReader(caller, address, orderEscrowAbi)
  return {
    address,
    orders: (orderId, block) => read('orders', [orderId], orderValue, block),
    openOrders: (block) => read('openOrders', [], numberValue, block),
    openOrdersOf: (orgId, block) => read('openOrdersOf', [orgId], numberValue, block),
    escrowed: (block) => read('escrowed', [], uintValue, block),
    claims: (account, asset, block) => read('claims', [account, asset], uintValue, block),
    claimed: (asset, block) => read('claimed', [asset], uintValue, block),
    takenBy: (prefix, block) => read('takenBy', [prefix], addressValue, block),
    deployedAt: (block) => read('deployedAt', [], numberValue, block),
    authority: (block) => read('authority', [], addressValue, block),
    usdc: (block) => read('usdc', [], addressValue, block),
    usedDigest: (digest, block) => read('usedDigest', [digest], boolValue, block),
  }
}
