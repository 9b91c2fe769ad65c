import { isError } from 'ethers'
import {
  type Client,
  ClientError,
  type ClientErrorCode,
  ContractError,
  type Hex,
  NotSubmittedError,
  type OrderRequest,
  type PlaceStep,
  type TakenId,
} from '../../src/client/index.js'
import { forgetOrder, keepOrder } from './keptOrders.js'

/** What becomes of an order that is being placed. */
export interface PlacingEvents {
  readonly onStep: (step: PlaceStep) => void
  /** Its escrow is open. Where nobody knows whether it is, `isCertain` is false: the chain will say. */
  readonly onOpen: (orderId: Hex, isCertain: boolean) => void
  /** Somebody copies the ids of orders, and the client tries others. */
  readonly onIdTaken?: (taken: TakenId) => void
  readonly signal?: AbortSignal
}

/** Places an order. Its envelope is kept from before the escrow until the order has ended, which its card sees. */
export async function placeKept(
  client: Pick<Client, 'placeOrder'>,
  request: OrderRequest,
  { onStep, onOpen, onIdTaken, signal }: PlacingEvents,
): Promise<void> {
  let kept: Hex | null = null
  let step: PlaceStep | null = null
  try {
    const { order } = await client.placeOrder(request, {
      beforeOpen: (sealed) => {
        if (kept !== null) forgetOrder(kept)
        kept = sealed.orderId
        step = null
        keepOrder(sealed)
      },
      onStep: (begun) => {
        step = begun
        onStep(begun)
      },
      onIdTaken: (taken) => {
        // The contract refused it: nothing is open under that id.
        step = null
        onIdTaken?.(taken)
      },
      signal,
    })
    onOpen(order.orderId, true)
  } catch (error) {
    if (error instanceof NotSubmittedError) onOpen(error.order.orderId, true)
    else if (kept !== null && (step !== 'opening' || isNothingOpened(error))) forgetOrder(kept)
    else if (kept !== null) onOpen(kept, false)
    throw error
  }
}

const NOTHING_OPENED = new Set<ClientErrorCode>([
  'transaction-refused',
  'transaction-replaced',
  'insufficient-usdc',
])

/**
 * Whether it is certain that no escrow was opened, when opening it failed. A transaction that is under way, or a silent
 * node, leaves it open.
 */
function isNothingOpened(error: unknown): boolean {
  if (error instanceof ClientError) return NOTHING_OPENED.has(error.code)
  return error instanceof ContractError || isError(error, 'INSUFFICIENT_FUNDS')
}
