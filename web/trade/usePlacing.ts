import { useCallback, useRef, useState } from 'preact/hooks'
import type { Client, Hex, OrderRequest, PlaceStep, TakenId } from '../../src/client/index.js'
import { type Action, useAction } from '../hooks/useAction.js'
import { PlacingStopped } from '../words/failures.js'
import { placeKept } from './placeKept.js'

/** How far an order is that is being placed. */
export type PlacingStep = 'unlocking' | 'signing' | PlaceStep

export interface Placing extends Omit<Action, 'run'> {
  readonly step: PlacingStep | null
  /** Who is in its way, while it is tried again under other ids. */
  readonly taken: TakenId | null
  /** Tries no other id. */
  readonly stop: () => void
  /** It failed, and its escrow may be open all the same. */
  readonly mayBeOpen: boolean
  /** Resolves with whether the order is open, or may be. */
  readonly place: (request: OrderRequest) => Promise<boolean>
}

interface PlacingDeps {
  readonly client: Pick<Client, 'placeOrder' | 'platform' | 'unlock'>
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
  const [taken, setTaken] = useState<TakenId | null>(null)
  const stopping = useRef<AbortController | null>(null)
  const place = useCallback(
    async (request: OrderRequest) => {
      let isListed = false
      setMayBeOpen(false)
      const stopped = new AbortController()
      stopping.current = stopped
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
          signal: stopped.signal,
          onStep: setStep,
          onIdTaken: (one) => {
            setTaken(one)
            setStep('signing')
          },
          onOpen: (orderId, isCertain) => {
            isListed = true
            setMayBeOpen(!isCertain)
            onOrder(orderId, request)
          },
        })
      })
      setStep(null)
      setTaken(null)
      return isListed
    },
    [client, unlocked, onUnlock, onOrder, run],
  )
  const stop = useCallback(() => stopping.current?.abort(new PlacingStopped()), [])
  return { busy, error, step, taken, stop, mayBeOpen, place }
}
