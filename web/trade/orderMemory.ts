import type { Hex, OrderRequest, Portfolio } from '../../src/client/index.js'

/** What was ordered. */
export type Ordered = Pick<OrderRequest, 'side' | 'symbol' | 'maxSpend'>

/** What a page knows of a wallet's orders beyond the chain. It is confidential, and kept nowhere but in its memory. */
export interface OrderMemory {
  /** Sealed by this page, the newest first. */
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

/** The same with what a portfolio says of open orders. It no longer says so of one that has ended; the memory does. */
export function withOpenOrders(memory: OrderMemory, openOrders: Portfolio['openOrders']): OrderMemory {
  const unknown = Object.entries(openOrders).filter(([orderId]) => !memory.ordered.has(orderId))
  if (unknown.length === 0) return memory
  const ordered = new Map(memory.ordered)
  for (const [orderId, { side, symbol, notional }] of unknown) {
    ordered.set(orderId, { side, symbol, maxSpend: notional })
  }
  return { ...memory, ordered }
}
