import { useCallback, useState } from 'preact/hooks'
import type { Client, Hex, OrderRequest, PlaceStep } from '../../src/client/index.js'
import { type Action, useAction } from '../hooks/useAction.js'
import { placeKept } from './placeKept.js'

/** How far an order is that is being placed. */
export type PlacingStep = 'unlocking' | 'signing' | PlaceStep

export interface Placing extends Omit<Action, 'run'> {
  readonly step: PlacingStep | null
  /** It failed, and its escrow may be open all the same. */
  readonly mayBeOpen: boolean
  /** Resolves with whether the order is open, or may be. */
  readonly place: (request: OrderRequest) => Promise<boolean>
}

interface PlacingDeps {
  readonly client: Client
  /** Whether the portfolio's key has been derived. */
  readonly unlocked: boolean
  readonly onUnlock: () => void
  readonly onOrder: (orderId: Hex, request: OrderRequest) => void
}

/** Seals an order, opens its escrow and submits it. */
export function usePlacing({ client, unlocked, onUnlock, onOrder }: PlacingDeps): Placing {
  const { busy, error, run } = useAction()
  const [step, setStep] = useState<PlacingStep | null>(null)
  const [mayBeOpen, setMayBeOpen] = useState(false)
  const place = useCallback(
    async (request: OrderRequest) => {
      let isListed = false
      setMayBeOpen(false)
      await run(async () => {
        if (!unlocked) {
          setStep('unlocking')
          // A server that is not to be trusted is found out before anything is signed.
          await client.platform()
          await client.unlock()
          onUnlock()
        }
        setStep('signing')
        await placeKept(client, request, {
          onStep: setStep,
          onOpen: (orderId, isCertain) => {
            isListed = true
            setMayBeOpen(!isCertain)
            onOrder(orderId, request)
          },
        })
      })
      setStep(null)
      return isListed
    },
    [client, unlocked, onUnlock, onOrder, run],
  )
  return { busy, error, step, mayBeOpen, place }
}
