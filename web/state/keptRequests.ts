import * as z from 'zod/mini'
import type { Client, Hex } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { amountOf, limitSchema, sideSchema } from '../../src/protocol/orderTerms.js'
import { uint256Schema } from '../../src/protocol/units.js'
import type { Ordered } from '../orders/orderMemory.js'
import type { DeviceStore } from './browser.js'

/**
 * The content of the orders that this device has sealed, kept for later visits and sealed with the portfolio's key. The chain has no other
 * copy of an order that the enclave refused: it never enters the portfolio.
 */
interface KeptRequests {
  /** Asks the wallet to sign if its key is not in use yet. Empty where no key opens them, or the browser keeps nothing. */
  open(): Promise<ReadonlyMap<Hex, Ordered>>
  /** Never rejects: without the browser's storage, the page alone knows the order. */
  keep(orderId: Hex, request: Ordered): Promise<void>
}

const PURPOSE = 'orders'
/** So many orders are kept. */
const MOST = 200

/** An order as the device keeps it: side and symbol decide the unit of its amount. */
const orderedSchema = z.object({
  side: sideSchema,
  symbol: z.string(),
  amount: uint256Schema,
  limit: z.optional(limitSchema),
})
const keptSchema = z.array(z.tuple([bytes32Schema, orderedSchema]))
type Kept = z.output<typeof keptSchema>[number]

interface KeptRequestsDeps {
  readonly client: Pick<Client, 'openFromDevice' | 'sealForDevice'>
  readonly store: DeviceStore
  readonly chainId: number
  readonly account: Hex
}

export function createKeptRequests({ client, store, chainId, account }: KeptRequestsDeps): KeptRequests {
  const record = `orders/${chainId}/${account}`.toLowerCase()
  let last: Promise<void> = Promise.resolve()

  async function open(): Promise<ReadonlyMap<Hex, Ordered>> {
    const bytes = await store.get(record).catch(() => null)
    if (bytes === null) return new Map()
    const found = keptSchema.safeParse(await client.openFromDevice(PURPOSE, bytes))
    const orders = found.success ? found.data : []
    return new Map(
      orders.map(([id, { amount, ...order }]) => [
        id,
        { ...order, ...amountOf(order.side, order.symbol, amount) },
      ]),
    )
  }
  async function add(orderId: Hex, request: Ordered): Promise<void> {
    const all = [...new Map(await open()).set(orderId, request)].slice(-MOST)
    const kept = all.map(
      ([id, { usdc, shares, ...order }]): Kept => [id, { ...order, amount: usdc ?? shares }],
    )
    await store.set(record, await client.sealForDevice(PURPOSE, z.encode(keptSchema, kept)))
  }
  return {
    open,
    keep(orderId, request) {
      last = last.then(() => add(orderId, request)).catch(() => undefined)
      return last
    },
  }
}
