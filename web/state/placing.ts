import { type ReadonlySignal, signal } from '@preact/signals'
import {
  type Client,
  ClientError,
  cannotDerive,
  type Hex,
  type OrderRequest,
  type PlaceOptions,
  type PlaceStep,
  type PlanOptions,
  type Prompt,
  type TakenId,
  type UnfinishedOrder,
} from '../../src/client/index.js'
import type { KeyInUse } from '../orders/portfolioKeys.js'
import type { Words } from '../words/contractWords.js'
import { PageError } from '../words/failures.js'

/** The user stopped an order whose id another wallet keeps taking. */
export class PlacingStopped extends PageError {
  override readonly name = 'PlacingStopped'
  override readonly words: Words = [
    'You stopped this order',
    'No escrow was opened. Report the wallet that took the id to the operator.',
  ]
}

/** The order being placed, or placed last, by this page. */
export interface PlacingState {
  /** Null while no order is being placed. */
  readonly step: PlaceStep | null
  /** Whether the platform opens the order; null until that is certain. */
  readonly byPlatform: boolean | null
  /** What the wallet is asked for the order, by what was known before it was asked; null until then. */
  readonly prompts: readonly Prompt[] | null
  /** The order whose escrow is open, for its stages on the ticket; null before, and while that is uncertain. */
  readonly orderId: Hex | null
  /** The wallet that took the order's id, while the client retries with new ones. */
  readonly taken: TakenId | null
  readonly error: unknown
  /** The placement failed before anyone could open the order's escrow. */
  readonly isUnsent: boolean
  /** The placement failed, but its escrow may be open. */
  readonly mayBeOpen: boolean
}

export interface Placing {
  readonly state: ReadonlySignal<PlacingState>
  /**
   * Resolves with whether the order is open, or may be or come to be.
   * @param how `wantsPlatform` asks the platform to open the order and pay the gas, if it offers that; `approve` as in the client
   */
  place(
    request: OrderRequest,
    how?: Pick<PlaceOptions, 'approve'> & { wantsPlatform?: boolean },
  ): Promise<boolean>
  /** Stops retrying. */
  stop(): void
  /** Forgets how the last order went, unless its escrow may be open: that warning stays until the next order. */
  clear(): void
}

interface PlacingDeps {
  readonly client: Pick<Client, 'placeOrder' | 'plan' | 'canSponsor'>
  /** The key of the portfolio in use; null while there is none. */
  readonly key: ReadonlySignal<KeyInUse | null>
  /** Puts a key to use. */
  readonly unlock: () => Promise<void>
  /** Whether a key newer than the one in use exists. */
  readonly isKeyMissing: () => boolean
  /** @param isSent whether the order is open, or may be; false for one that is signed alone */
  readonly onOrder: (orderId: Hex, request: OrderRequest, isSent: boolean) => void
}

const NONE: PlacingState = {
  ...{ step: null, byPlatform: null, prompts: null, orderId: null, taken: null, error: null },
  ...{ isUnsent: false, mayBeOpen: false },
}

/** Seals orders, opens their escrows and submits them. */
export function createPlacing({ client, key, unlock, isKeyMissing, onOrder }: PlacingDeps): Placing {
  const state = signal(NONE)
  const change = (to: Partial<PlacingState>) => {
    state.value = { ...state.peek(), ...to }
  }
  let stopping = new AbortController()
  /** Null for a wallet that derives no key: `unlock` fails, and asks for a file. */
  async function planOf(request: OrderRequest, options: PlanOptions): Promise<readonly Prompt[] | null> {
    try {
      return await client.plan(request, { ...options, signal: stopping.signal })
    } catch (error) {
      if (cannotDerive(error)) return null
      throw error
    }
  }
  return {
    state,
    async place(request, { wantsPlatform = false, approve } = {}) {
      let isListed = false
      stopping = new AbortController()
      state.value = { ...NONE, step: key.value === null ? 'unlocking' : 'signing' }
      try {
        // The order would seal the portfolio to the older key again.
        if (isKeyMissing()) throw new ClientError('portfolio-key-missing', 'A newer portfolio key was made.')
        const byPlatform = wantsPlatform && (await client.canSponsor())
        const options = { sponsored: byPlatform, approve }
        change({ byPlatform })
        // Also detects an untrusted server before anything is signed.
        change({ prompts: await planOf(request, options) })
        if (key.value === null) await unlock()
        const list = ({ orderId, state: found }: UnfinishedOrder) => {
          isListed = true
          onOrder(orderId, request, found !== 'signed')
          if (found === 'signed') return
          change({ orderId: found === 'open' ? orderId : null, mayBeOpen: found === 'unopened' })
        }
        const { order } = await client.placeOrder(request, {
          ...options,
          signal: stopping.signal,
          onStep: (step) => change({ step }),
          onIdTaken: (taken) => change({ taken }),
          onUnfinished: list,
        })
        list({ orderId: order.orderId, state: 'open' })
      } catch (error) {
        change({ error, isUnsent: !isListed })
      }
      change({ step: null, taken: null })
      return isListed
    },
    stop: () => stopping.abort(new PlacingStopped()),
    clear() {
      if (state.peek().step === null && !state.peek().mayBeOpen) state.value = NONE
    },
  }
}
