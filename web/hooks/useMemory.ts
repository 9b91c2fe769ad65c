import { useCallback, useMemo, useState } from 'preact/hooks'
import type { Hex, Portfolio } from '../../src/client/index.js'
import {
  NO_ORDERS,
  type Ordered,
  type OrderMemory,
  withOpenOrders,
  withPlaced,
} from '../trade/orderMemory.js'
import type { Session } from '../wallet/session.js'

/** What this page knows of a session, wherever in it one has been meanwhile. It ends with the session. */
export interface Memory {
  readonly orders: OrderMemory
  /** Whether the wallet has signed for the portfolio's key. */
  readonly unlocked: boolean
  /** Sealing an order has derived the key. */
  readonly addPlaced: (orderId: Hex, request: Ordered) => void
  readonly learn: (openOrders: Portfolio['openOrders']) => void
  readonly unlock: () => void
}

interface Remembered {
  readonly session: Session | null
  readonly orders: OrderMemory
  readonly unlocked: boolean
}

export function useMemory(session: Session | null): Memory {
  const [state, setState] = useState<Remembered>({ session, orders: NO_ORDERS, unlocked: false })
  const change = useCallback(
    (to: (before: Remembered) => Partial<Remembered>) =>
      setState((before) => {
        const mine = of(before, session)
        return { ...mine, ...to(mine) }
      }),
    [session],
  )
  const changes = useMemo(
    () => ({
      addPlaced: (orderId: Hex, request: Ordered) =>
        change(({ orders }) => ({ orders: withPlaced(orders, orderId, request), unlocked: true })),
      learn: (openOrders: Portfolio['openOrders']) =>
        change(({ orders }) => ({ orders: withOpenOrders(orders, openOrders) })),
      unlock: () => change(() => ({ unlocked: true })),
    }),
    [change],
  )
  const { orders, unlocked } = of(state, session)
  return { orders, unlocked, ...changes }
}

/** What was known of another session is not this one's. */
function of(state: Remembered, session: Session | null): Remembered {
  return state.session === session ? state : { session, orders: NO_ORDERS, unlocked: false }
}
