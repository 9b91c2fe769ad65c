import { useMemo } from 'preact/hooks'
import type { Hex, Portfolio } from '../../src/client/index.js'
import {
  NO_ORDERS,
  type Ordered,
  type OrderMemory,
  withOpenOrders,
  withPlaced,
} from '../trade/orderMemory.js'
import type { Session } from '../wallet/session.js'
import { useOfSession } from './useOfSession.js'

/** What this page knows of a session, wherever in it one has been meanwhile. It ends with the session. */
export interface Memory extends Remembered {
  /** Sealing an order has derived the key. */
  readonly addPlaced: (orderId: Hex, request: Ordered) => void
  readonly learn: (openOrders: Portfolio['openOrders']) => void
  readonly unlock: () => void
}

interface Remembered {
  readonly orders: OrderMemory
  /** Whether the wallet has signed for the portfolio's key. */
  readonly unlocked: boolean
}

const NOTHING: Remembered = { orders: NO_ORDERS, unlocked: false }

export function useMemory(session: Session | null): Memory {
  const [remembered, change] = useOfSession(session, NOTHING)
  const changes = useMemo(
    () => ({
      addPlaced: (orderId: Hex, request: Ordered) =>
        change(({ orders }) => ({ orders: withPlaced(orders, orderId, request), unlocked: true })),
      learn: (openOrders: Portfolio['openOrders']) =>
        change((before) => ({ ...before, orders: withOpenOrders(before.orders, openOrders) })),
      unlock: () => change((before) => ({ ...before, unlocked: true })),
    }),
    [change],
  )
  return { ...remembered, ...changes }
}
