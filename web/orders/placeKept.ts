import {
  type Client,
  type Hex,
  NotSubmittedError,
  type OrderRequest,
  type PlaceOptions,
  type PlaceStep,
  type TakenId,
} from '../../src/client/index.js'

/** Events of an order being placed. */
interface PlacingEvents {
  readonly onStep: (step: PlaceStep) => void
  /** The escrow is open. `isCertain` is false if that is unknown until the chain shows it. */
  readonly onOpen: (orderId: Hex, isCertain: boolean) => void
  /** Another wallet copied the order's id; the client retries with a new one. */
  readonly onIdTaken?: (taken: TakenId) => void
  /** The order is signed, and the platform has not opened it: until the signature expires, it may. */
  readonly onSigned?: (orderId: Hex) => void
  readonly signal?: AbortSignal
}

/** Places an order. After a failure, the client keeps it where it is open, or may be or come to be. */
export async function placeKept(
  client: Pick<Client, 'placeOrder' | 'getKeptOrders'>,
  request: OrderRequest,
  options: Pick<PlaceOptions, 'sponsored' | 'approve'> & PlacingEvents,
): Promise<void> {
  const { sponsored = false, approve, onStep, onOpen, onIdTaken, onSigned, signal } = options
  let last: Hex | null = null
  try {
    const { order } = await client.placeOrder(request, {
      ...{ sponsored, approve, onStep, onIdTaken, signal },
      beforeOpen: ({ orderId }) => {
        last = orderId
      },
    })
    onOpen(order.orderId, true)
  } catch (error) {
    if (error instanceof NotSubmittedError) onOpen(error.order.orderId, true)
    else {
      const kept = await client.getKeptOrders().catch(() => [])
      const mine = kept.find(({ orderId }) => orderId === last)
      if (mine !== undefined && sponsored) onSigned?.(mine.orderId)
      else if (mine !== undefined) onOpen(mine.orderId, false)
    }
    throw error
  }
}
