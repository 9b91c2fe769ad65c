import { isError } from 'ethers'
import {
  type Client,
  ClientError,
  type ClientErrorCode,
  ContractError,
  type Hex,
  NotSubmittedError,
  type OrderRequest,
} from '../../src/client/index.js'
import { forgetOrder, keepOrder } from './keptOrders.js'

/** What becomes of an order that is being placed. */
export interface PlacingEvents {
  readonly onSealed: () => void
  /** Its escrow is open. Where nobody knows whether it is, `isCertain` is false: the chain will say. */
  readonly onOpen: (orderId: Hex, isCertain: boolean) => void
}

/** Places an order. Its envelope is kept from before the escrow until the server has it. */
export async function placeKept(
  client: Pick<Client, 'placeOrder'>,
  request: OrderRequest,
  { onSealed, onOpen }: PlacingEvents,
): Promise<void> {
  let kept: Hex | null = null
  try {
    const { order } = await client.placeOrder(request, {
      beforeOpen: (sealed) => {
        if (kept !== null) forgetOrder(kept)
        kept = sealed.orderId
        keepOrder(sealed)
        onSealed()
      },
    })
    onOpen(order.orderId, true)
    forgetOrder(order.orderId)
  } catch (error) {
    if (error instanceof NotSubmittedError) onOpen(error.order.orderId, true)
    else if (kept !== null && isNothingOpened(error)) forgetOrder(kept)
    else if (kept !== null) onOpen(kept, false)
    throw error
  }
}

const NOTHING_OPENED = new Set<ClientErrorCode>([
  'transaction-refused',
  'transaction-replaced',
  'insufficient-usdc',
])

/** Whether it is certain that no escrow was opened. A transaction that is under way, or a silent node, leaves it open. */
function isNothingOpened(error: unknown): boolean {
  if (error instanceof ClientError) return NOTHING_OPENED.has(error.code)
  return error instanceof ContractError || isError(error, 'INSUFFICIENT_FUNDS')
}
