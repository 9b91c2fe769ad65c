// The orders of an account, which no view of the contracts lists.
import * as z from 'zod/mini'
import { addressIn, type ChainLog, numberIn, wordAt } from '../chain/logReader.js'
import type { Hex } from '../protocol/hex.js'
import { uint256Schema } from '../protocol/units.js'
import { topicOf, topicOfAddress } from './contractEvents.js'
import { type BlockPlace, keepList, keptHex, listShape, type ReadList } from './keptLists.js'
import { type ListOptions, readEvents } from './logList.js'
import { createNode } from './node.js'
import type { PlatformContracts } from './platform.js'
import type { Wallet } from './wallet.js'

/** An order whose escrow was opened. */
export interface ListedOrder extends BlockPlace {
  readonly orderId: Hex
  readonly account: Hex
  /** USDC base units; 0 for an order that escrows no USDC. */
  readonly escrowed: bigint
  /** Unix seconds. */
  readonly deadline: number
  readonly txHash: Hex
}

export interface OrderList extends ReadList {
  /** Newest first. */
  readonly orders: readonly ListedOrder[]
}

export interface OrderListOptions extends ListOptions<OrderList> {
  /** The account of the orders; the wallet's own by default. */
  readonly account?: Hex | undefined
}

interface ListDeps {
  readonly wallet: Wallet
  readonly contracts: Pick<PlatformContracts, 'escrow'>
}

const OPENED = topicOf('OrderOpened')

export async function* ordersOfAccount(
  { wallet, contracts }: ListDeps,
  { account, resume, store, ...options }: OrderListOptions = {},
): AsyncGenerator<OrderList, void, undefined> {
  const owner = account ?? (await wallet.account())
  const queries = [{ address: contracts.escrow, topics: [OPENED, null, topicOfAddress(owner)] }]
  const rpc = createNode(wallet, options.signal)
  const name = async () => `orders/${await wallet.chainId()}/${contracts.escrow}/${owner}`
  const kept = {
    ...{ store, name, schema: ordersSchema, rows: ['orders'] as const },
    itemsOf: ({ orders }: OrderList) => orders,
  }
  yield* keepList(kept, resume, async function* (from) {
    const found = from && { ...from, items: from.orders.toReversed() }
    const events = readEvents({ rpc, queries, itemOf: orderIn }, { ...options, resume: found })
    for await (const { items, ...listing } of events) yield { orders: items.toReversed(), ...listing }
  })
}

const place = { blockNumber: z.int(), logIndex: z.int() }
const ordersSchema = z.strictObject({
  ...listShape,
  orders: z.array(
    z.strictObject({
      ...{ orderId: keptHex, account: keptHex, txHash: keptHex, ...place },
      ...{ escrowed: uint256Schema, deadline: z.int() },
    }),
  ),
})

function orderIn({ topics, data, txHash, blockNumber, logIndex }: ChainLog): ListedOrder {
  const [, orderId = '0x', account = '0x'] = topics
  const [escrowed, deadline] = [BigInt(wordAt(data, 0)), numberIn(wordAt(data, 1))]
  return { orderId, account: addressIn(account), escrowed, deadline, txHash, blockNumber, logIndex }
}
