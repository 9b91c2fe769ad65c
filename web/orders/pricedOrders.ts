import { adjustedPrices, type HistoryEntry, type OrderSummary, ordersOf } from '../../src/client/history.js'
import type { Hex } from '../../src/client/index.js'

/** An order's content and fill. */
export interface PricedOrder extends OrderSummary {
  /** The price of its fill in the shares of today; null without one. */
  readonly adjusted: bigint | null
}

/** The orders of a history, by id. @param entries oldest first */
export function pricedOrders(entries: readonly HistoryEntry[]): ReadonlyMap<Hex, PricedOrder> {
  const fills = new Map<Hex | null, bigint>()
  for (const [at, price] of adjustedPrices(entries).entries()) {
    if (price !== null) fills.set(entries[at]?.orderId ?? null, price)
  }
  const orders = ordersOf(entries).map((order) => ({ ...order, adjusted: fills.get(order.orderId) ?? null }))
  return new Map(orders.map((order) => [order.orderId, order]))
}
