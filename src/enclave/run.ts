import { BrokerError, type Placement, type SharedBroker } from '../broker/index.js'
import type { FeeSchedule } from '../protocol/fees.js'
import type { RunResult } from '../protocol/job.js'
import type { KeyedLock } from '../service/keyedLock.js'
import type { Authorizer } from './authorizer.js'
import type { ChainState } from './chainState.js'
import type { RunClock } from './clock.js'
import type { BlockPoint } from './heads.js'
import type { EnclaveKeys } from './keys/keys.js'
import type { PolicyStore, PortfolioStore } from './stores.js'
import type { Turns } from './turns.js'

/** The enclave's waits, in milliseconds. */
export interface Timings {
  /** Between two looks at the chain while a run waits for a block. All runs of the process share these looks. */
  confirmPollMs: number
  /** How long a run waits for its permit to lie deep enough, before it leaves the order to a later run. */
  depthWaitMs: number
  /** After this, the run asks the relay again for an authorization that the chain has not taken. */
  relayAgainMs: number
  /** How long a run follows a live order, before it leaves the order to a later run. */
  fillWaitMs: number
  /** An order that another run may be sending counts as absent only when it is still absent this long after its mark. */
  absentAgainMs: number
  /** Between two questions about an order whose answer was lost. */
  ambiguousAgainMs: number
}

/**
 * Milliseconds from the look at the chain to the send, which is over after its own time-out, twelve seconds at most. The run
 * that decides that an order is never placed waits longer than both before it looks for the order a last time.
 */
export const MAX_LOOK_AGE_MS = 5_000

/** The platform's minimums, in USDC base units. Neither binds an order for a whole balance. */
export interface Limits {
  order: bigint
  withdrawal: bigint
}

/** How long the fills of a symbol wait for company. */
export interface Batching {
  /** Accounts that must have traded the symbol since its last batch. */
  accounts: number
  /** After this, a fill is in the next batch, however few accounts have traded. Milliseconds. */
  maxDelayMs: number
}

/** Everything that a use-case works with during one run. */
export interface Run {
  readonly clock: RunClock
  /** Guarded: it refuses to be called from `stopAt` on. */
  readonly broker: GuardedBroker
  readonly chain: ChainState
  /** One run of an account at a time. */
  readonly accountLock: KeyedLock
  readonly turns: Turns
  readonly authorizer: Authorizer
  readonly portfolios: PortfolioStore
  readonly policies: PolicyStore
  /** Opens what clients seal. */
  readonly open: EnclaveKeys['open']
  /**
   * Stops the run where the list has an action that the broker has not booked.
   * @param followed how many actions a stored portfolio has followed
   */
  assertBorne(block: BlockPoint, followed?: number): Promise<void>
  /** Where the order's escrow stands among all; by it orders take turns at the broker. */
  readonly openedAt: bigint
  readonly timings: Timings
  /** The broker's fees for a sale. */
  readonly fees: FeeSchedule
  readonly limits: Limits
  readonly batching: Batching
  /** Leaves a result that stands if the run dies now; the final one takes its place. */
  report(result: RunResult): Promise<void>
}

/** A broker as one run uses it. */
interface GuardedBroker extends Omit<SharedBroker, 'close' | 'getAccount' | 'getBars' | 'getNewestOrders'> {
  /** How the last call failed; null once one has succeeded. A run reports this even when it finished without the answer. */
  lastFailure(): BrokerError | null
}

/** The same broker, with `check` before every call. */
export function guardBroker(broker: SharedBroker, check: () => void): GuardedBroker {
  let failure: BrokerError | null = null
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      check()
      try {
        const answer = await call(...args)
        failure = null
        return answer
      } catch (error) {
        if (error instanceof BrokerError) failure = error
        throw error
      }
    }
  const guardedPlacement = (placement: Placement): Placement => ({
    ...placement,
    send: guarded(placement.send),
  })
  return {
    lastFailure: () => failure,
    defer: broker.defer,
    async reserve(ask) {
      check()
      const placement = await broker.reserve(ask)
      return placement && guardedPlacement(placement)
    },
    follow: guarded(broker.follow),
    getClock: guarded(broker.getClock),
    getSnapshots: guarded(broker.getSnapshots),
    getAsset: guarded(broker.getAsset),
    getOrderByClientOrderId: guarded(broker.getOrderByClientOrderId),
    readOrder: guarded(broker.readOrder),
    mayFill: guarded(broker.mayFill),
    getOrders: guarded(broker.getOrders),
    getLiveOrders: guarded(broker.getLiveOrders),
    cancelOrder: guarded(broker.cancelOrder),
    getPositions: guarded(broker.getPositions),
    getActivities: guarded(broker.getActivities),
    getAnnouncements: guarded(broker.getAnnouncements),
    getBookedEntries: guarded(broker.getBookedEntries),
    getBookedEntriesNow: guarded(broker.getBookedEntriesNow),
  }
}
