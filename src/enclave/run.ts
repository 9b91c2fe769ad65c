import type { FeeSchedule } from '../protocol/fees.js'
import type { Hex } from '../protocol/hex.js'
import type { RunResult } from '../protocol/job.js'
import type { KeyedLock } from '../service/keyedLock.js'
import type { Authorizer } from './authorizer.js'
import type { ChainState } from './chainState.js'
import type { RunClock } from './clock.js'
import type { GuardedBroker } from './guardedBroker.js'
import type { PolicyStore } from './policyStore.js'
import type { PortfolioStore } from './portfolioStore.js'

/** How long the enclave waits for what, in milliseconds. */
export interface Timings {
  /** Between two looks at the chain while a run waits for a block. All runs of the process share these looks. */
  confirmPollMs: number
  /** How long a run waits until what permits it lies deep enough, before it leaves it to a later run. */
  depthWaitMs: number
  /** The relay is asked again when the chain has not taken an authorization after this. */
  relayAgainMs: number
  /** How long a run follows a live order before it leaves it to a later run. */
  fillWaitMs: number
  /** An order that another run may be sending counts as absent only when it is still absent this long after its mark. */
  absentAgainMs: number
  /** Between two questions about an order whose answer was lost. */
  ambiguousAgainMs: number
}

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
  /** Orders that a run of this process has seen live at the broker: their next run takes no turn there. Used for nothing else. */
  readonly seenAtBroker: Pick<Map<Hex, true>, 'has' | 'set'>
  readonly authorizer: Authorizer
  readonly portfolios: PortfolioStore
  readonly policies: PolicyStore
  /** Opens what clients seal. */
  readonly intentPrivateKey: Hex
  /** Where the order's escrow stands among all; by it orders take turns at the broker. */
  readonly openedAt: bigint
  readonly timings: Timings
  /** The broker's fees for a sale. */
  readonly fees: FeeSchedule
  /** Symbols whose shares are not minted or burned for now. */
  readonly haltedSymbols: ReadonlySet<string>
  readonly limits: Limits
  readonly batching: Batching
  /** Leaves a result that stands if the run dies now; the final one takes its place. */
  report(result: RunResult): Promise<void>
}
