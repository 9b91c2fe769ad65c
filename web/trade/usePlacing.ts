import { useCallback, useState } from 'preact/hooks'
import {
  type Client,
  ClientError,
  ContractError,
  NotSubmittedError,
  type OrderRequest,
} from '../../src/client/index.js'
import { type Action, useAction } from '../hooks/useAction.js'
import { forgetOrder, keepOrder } from './keptOrders.js'
import type { DeskOrder } from './useOrders.js'

/** How far an order is that is being placed. */
export type PlacingStep = 'signing' | 'opening'

export interface Placing extends Omit<Action, 'run'> {
  readonly step: PlacingStep | null
  /** Resolves with whether the order is open. */
  readonly place: (request: OrderRequest) => Promise<boolean>
}

interface PlacingDeps {
  readonly client: Client
  readonly onOrder: (order: DeskOrder) => void
}

/** Seals an order, opens its escrow and submits it. The envelope is kept from before the escrow until the server has it. */
export function usePlacing({ client, onOrder }: PlacingDeps): Placing {
  const { busy, error, run } = useAction()
  const [step, setStep] = useState<PlacingStep | null>(null)
  const place = useCallback(
    async (request: OrderRequest) => {
      let isOpen = false
      setStep('signing')
      await run(async () => {
        const order = await placeKept(
          client,
          request,
          () => setStep('opening'),
          (opened) => {
            isOpen = true
            onOrder({ orderId: opened, request })
          },
        )
        forgetOrder(order.orderId)
      })
      setStep(null)
      return isOpen
    },
    [client, onOrder, run],
  )
  return { busy, error, step, place }
}

async function placeKept(
  client: Client,
  request: OrderRequest,
  onSealed: () => void,
  onOpen: (orderId: DeskOrder['orderId']) => void,
) {
  let kept: DeskOrder['orderId'] | null = null
  try {
    const { order } = await client.placeOrder(request, {
      beforeOpen: (sealed) => {
        if (kept !== null) forgetOrder(kept)
        kept = sealed.orderId
        keepOrder(sealed)
        onSealed()
      },
    })
    onOpen(order.orderId)
    return order
  } catch (error) {
    if (error instanceof NotSubmittedError) onOpen(error.order.orderId)
    else if (kept !== null && isCertain(error)) forgetOrder(kept)
    throw error
  }
}

/** Whether it is certain that no escrow was opened. A transaction that is under way, or a silent node, leaves it open. */
function isCertain(error: unknown): boolean {
  if (error instanceof ContractError) return true
  return (
    error instanceof ClientError &&
    (error.code === 'transaction-refused' || error.code === 'insufficient-usdc')
  )
}
