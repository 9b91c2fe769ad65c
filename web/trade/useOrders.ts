import { useEffect, useMemo } from 'preact/hooks'
import type { Hex } from '../../src/client/index.js'
import type { OrderHistory } from '../chain/orderHistory.js'
import type { Ask } from '../chain/remembered.js'
import { usePolled } from '../hooks/usePolled.js'
import type { Ordered, OrderMemory } from './orderMemory.js'

/** An order of this wallet. */
export interface DeskOrder {
  readonly orderId: Hex
  /** What was ordered: known to the page that sealed it, and of an open one to the portfolio. */
  readonly request: Ordered | null
}

export interface Orders {
  /** Newest first. */
  readonly orders: readonly DeskOrder[]
  /** Whether there are no others. */
  readonly complete: boolean
  readonly error: unknown
}

const LOOK_MS = 15_000

/** The orders that the chain has of this wallet, and those that were just placed. */
export function useOrders(read: Ask<OrderHistory>, memory: OrderMemory): Orders {
  const { value, error, refresh } = usePolled(read, LOOK_MS)
  useEffect(() => {
    window.addEventListener('focus', refresh)
    return () => window.removeEventListener('focus', refresh)
  }, [refresh])
  const orders = useMemo(() => listed(memory, value?.ids ?? []), [memory, value])
  return { orders, complete: value?.complete ?? false, error }
}

/** Those that are not on the chain yet come first, then the chain's order. */
function listed({ placed, ordered }: OrderMemory, ids: readonly Hex[]): readonly DeskOrder[] {
  const opened = new Set(ids)
  return [...placed.filter((orderId) => !opened.has(orderId)), ...ids].map((orderId) => ({
    orderId,
    request: ordered.get(orderId) ?? null,
  }))
}
