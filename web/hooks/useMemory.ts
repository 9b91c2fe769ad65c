import { useMemo } from 'preact/hooks'
import type { Hex, Portfolio } from '../../src/client/index.js'
import {
  NO_ORDERS,
  type Ordered,
  type OrderMemory,
  withOpenOrders,
  withPlaced,
} from '../trade/orderMemory.js'
import type { KeyInUse } from '../trade/portfolioKeys.js'
import type { Session } from '../wallet/session.js'
import { useOfSession } from './useOfSession.js'

/** What this page knows of a session, wherever in it one has been meanwhile. It ends with the session. */
export interface Memory extends Remembered {
  readonly addPlaced: (orderId: Hex, request: Ordered) => void
  readonly learn: (openOrders: Portfolio['openOrders']) => void
  readonly unlock: (key: KeyInUse) => void
  /** Whether a key of the portfolio is in use. */
  readonly unlocked: boolean
}

interface Remembered {
  readonly orders: OrderMemory
  /** The newest key of the portfolio; null while none is in use. */
  readonly key: KeyInUse | null
}

const NOTHING: Remembered = { orders: NO_ORDERS, key: null }

export function useMemory(session: Session | null): Memory {
  const [remembered, change] = useOfSession(session, NOTHING)
  const changes = useMemo(
    () => ({
      addPlaced: (orderId: Hex, request: Ordered) =>
        change((before) => ({ ...before, orders: withPlaced(before.orders, orderId, request) })),
      learn: (openOrders: Portfolio['openOrders']) =>
        change((before) => ({ ...before, orders: withOpenOrders(before.orders, openOrders) })),
      unlock: (key: KeyInUse) => change((before) => ({ ...before, key })),
    }),
    [change],
  )
  return { ...remembered, ...changes, unlocked: remembered.key !== null }
}
