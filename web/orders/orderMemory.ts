import type { Hex, OrderRequest, Portfolio } from '../../src/client/index.js'

/** The content of an order. */
export type Ordered = Pick<OrderRequest, 'side' | 'symbol' | 'maxSpend'>

/** The page's knowledge of a wallet's orders beyond the chain. It is confidential, and stays in memory. */
export interface OrderMemory {
  /** Orders sealed by this page, newest first. */
  readonly placed: readonly Hex[]
  readonly ordered: ReadonlyMap<string, Ordered>
}

export const NO_ORDERS: OrderMemory = { placed: [], ordered: new Map() }

export function withPlaced({ placed, ordered }: OrderMemory, orderId: Hex, request: Ordered): OrderMemory {
  return {
    placed: [orderId, ...placed.filter((other) => other !== orderId)],
    ordered: new Map(ordered).set(orderId, request),
  }
}

/** Adds the open orders of a portfolio. The portfolio drops ended orders; the memory keeps them. */
export function withOpenOrders(memory: OrderMemory, openOrders: Portfolio['openOrders']): OrderMemory {
  const unknown = Object.entries(openOrders).filter(([orderId]) => !memory.ordered.has(orderId))
  if (unknown.length === 0) return memory
  const ordered = new Map(memory.ordered)
  for (const [orderId, { side, symbol, notional }] of unknown) {
    ordered.set(orderId, { side, symbol, maxSpend: notional })
  }
  return { ...memory, ordered }
}
