import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import type { Hex, OrderRequest } from '../../src/client/index.js'
import { createOrderHistory } from '../chain/orderHistory.js'
import { usePolled } from '../hooks/usePolled.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'

/** An order of this wallet. */
export interface DeskOrder {
  readonly orderId: Hex
  /** What was ordered: known to the page that sealed it, until it is closed. */
  readonly request: OrderRequest | null
}

export interface Orders {
  /** Newest first. */
  readonly orders: readonly DeskOrder[]
  readonly error: unknown
  readonly add: (order: DeskOrder) => void
}

const LOOK_MS = 15_000

/** The orders that the chain has of this wallet, and those that were just placed. */
export function useOrders(session: Session, settings: Settings): Orders {
  const [placed, setPlaced] = useState<readonly DeskOrder[]>([])
  const add = useCallback(
    (order: DeskOrder) =>
      setPlaced((known) => [order, ...known.filter(({ orderId }) => orderId !== order.orderId)]),
    [],
  )
  const read = useMemo(
    () => createOrderHistory(session.provider, settings, session.address),
    [session, settings],
  )
  const { value: ids, error, refresh } = usePolled(read, LOOK_MS)
  useEffect(() => {
    window.addEventListener('focus', refresh)
    return () => window.removeEventListener('focus', refresh)
  }, [refresh])
  const orders = useMemo(() => listed(placed, ids ?? []), [placed, ids])
  return { orders, error, add }
}

/** Those that are not on the chain yet come first, then the chain's order. */
function listed(placed: readonly DeskOrder[], ids: readonly Hex[]): readonly DeskOrder[] {
  const known = new Map(placed.map((order) => [order.orderId, order]))
  const opened = new Set(ids)
  return [
    ...placed.filter(({ orderId }) => !opened.has(orderId)),
    ...ids.map((orderId) => known.get(orderId) ?? { orderId, request: null }),
  ]
}
