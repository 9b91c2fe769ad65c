import {
  type Client,
  type Hex,
  NotSubmittedError,
  type OrderRequest,
  type PlaceOptions,
  type PlaceStep,
  provesUnopened,
  type SealedOrder,
  type TakenId,
} from '../../src/client/index.js'
import { forgetOrder, keepOrder } from './keptOrders.js'

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

/** Places an order. Stores its envelope from before the escrow opens until the order's card sees the end. */
export async function placeKept(
  client: Pick<Client, 'placeOrder'>,
  request: OrderRequest,
  options: Pick<PlaceOptions, 'sponsored' | 'earlier'> & PlacingEvents,
): Promise<void> {
  const { sponsored = false, earlier, onStep, onOpen, onIdTaken, onSigned, signal } = options
  let kept: SealedOrder | null = null
  let step: PlaceStep | null = null
  try {
    const { order } = await client.placeOrder(request, {
      sponsored,
      earlier,
      beforeOpen: (sealed) => {
        if (kept !== null) forgetOrder(kept.orderId)
        kept = sealed
        step = null
        keepOrder(sealed)
      },
      onStep: (begun) => {
        step = begun
        onStep(begun)
      },
      onIdTaken: (taken) => {
        // The contract refused the order, so no escrow is open under that id.
        step = null
        onIdTaken?.(taken)
      },
      signal,
    })
    onOpen(order.orderId, true)
  } catch (error) {
    if (error instanceof NotSubmittedError) onOpen(error.order.orderId, true)
    else if (kept !== null) {
      const { orderId } = kept
      const isVoid = provesUnopened(error, kept) || (!sponsored && step !== 'opening')
      if (isVoid) forgetOrder(orderId)
      else if (sponsored) onSigned?.(orderId)
      else onOpen(orderId, false)
    }
    throw error
  }
}
