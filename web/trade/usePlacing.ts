import { useCallback, useRef, useState } from 'preact/hooks'
import {
  type Client,
  ClientError,
  type Hex,
  type OrderRequest,
  type PlaceStep,
  type TakenId,
} from '../../src/client/index.js'
import { type Action, useAction } from '../hooks/useAction.js'
import { PlacingStopped } from '../words/failures.js'
import { placeKept } from './placeKept.js'
import { type KeyInUse, openKeys } from './portfolioKeys.js'

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
  readonly client: Pick<Client, 'placeOrder' | 'platform' | 'unlock' | 'portfolio'>
  /** Whether a key of the portfolio is in use. */
  readonly unlocked: boolean
  /** A newer key was made than the one in use. */
  readonly keyMissing: boolean
  readonly onUnlock: (key: KeyInUse) => void
  readonly onOrder: (orderId: Hex, request: OrderRequest) => void
}

/** Seals an order, opens its escrow and submits it. */
export function usePlacing({ client, unlocked, keyMissing, onUnlock, onOrder }: PlacingDeps): Placing {
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
        // The order would seal the portfolio to the older key again.
        if (keyMissing) throw new ClientError('portfolio-key-missing', 'A newer portfolio key was made.')
        if (!unlocked) {
          setStep('unlocking')
          // A server that is not to be trusted is found out before anything is signed.
          await client.platform()
          onUnlock(await openKeys(client))
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
    [client, unlocked, keyMissing, onUnlock, onOrder, run],
  )
  const stop = useCallback(() => stopping.current?.abort(new PlacingStopped()), [])
  return { busy, error, step, taken, stop, mayBeOpen, place }
}
