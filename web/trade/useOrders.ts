import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Hex, OrderRequest } from '../../src/client/index.js'
import { readOrderIds } from '../chain/orderHistory.js'
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

/** The orders that the chain has of this wallet, and those that were just placed. */
export function useOrders(session: Session, settings: Settings): Orders {
  const [orders, setOrders] = useState<readonly DeskOrder[]>([])
  const [error, setError] = useState<unknown>(null)
  const add = useCallback(
    (order: DeskOrder) =>
      setOrders((known) => [order, ...known.filter(({ orderId }) => orderId !== order.orderId)]),
    [],
  )
  useEffect(() => {
    let ended = false
    const read = async () => {
      try {
        const ids = await readOrderIds(session.provider, settings, session.address)
        if (ended) return
        setOrders((known) => {
          const present = new Set(known.map(({ orderId }) => orderId))
          const earlier = ids.filter((orderId) => !present.has(orderId))
          return [...known, ...earlier.map((orderId) => ({ orderId, request: null }))]
        })
      } catch (failure) {
        if (!ended) setError(failure)
      }
    }
    read()
    return () => {
      ended = true
    }
  }, [session, settings])
  return { orders, error, add }
}
