import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { Hex } from '../../protocol/hex.js'
import type { Service } from '../lifetime.js'
import { createPoller } from '../poller.js'
import type { Engine } from '../store/engine.js'
import type { ServeLease } from '../store/leaseHolder.js'
import type { OrderRecords } from '../store/orderRecords.js'
import type { RunRecords } from '../store/runRecords.js'
import {
  createUnopenedOrders,
  createUnopenedRoom,
  type RoomLimits,
  type UnopenedRoom,
} from './envelopeQuota.js'
import type { QueueDepth } from './orderQueue.js'
import { createPolicyRuns, type PolicyRuns } from './policyRuns.js'
import { createRuns } from './runner.js'
import {
  createTriggerTerm,
  type TermStores,
  type TriggerOptions,
  type TriggerTerm,
  WATCH_INTERVAL_MS,
} from './term.js'

export interface EnclaveRunsOptions extends TriggerOptions {
  readonly serveLease: ServeLease
  /** @param engine with the fence of one term */
  readonly termStores: (engine: Engine) => TermStores
  /** For what every server does: rulebooks that it takes in, results that it receives, orders that it has stored. */
  readonly runRecords: RunRecords
  readonly records: OrderRecords
  readonly timeouts: TriggerOptions['timeouts'] & { readonly policy: number }
  /** Limits of what this server stores without an escrow, and for how many milliseconds it is kept. */
  readonly unopened: RoomLimits & { readonly expiryMs: number }
}

/** Everything that starts enclave runs. Of several servers, one at a time runs orders and the reconcile. */
export interface EnclaveRuns {
  readonly policyRuns: PolicyRuns
  /** An envelope was stored; it runs as soon as its escrow is seen to be open. */
  readonly onStored: (orderId: Hex, commit: Hex) => void
  /** For envelopes whose escrow is not known to be open. */
  readonly room: Pick<UnopenedRoom, 'refusal' | 'take'>
  /** The escrow of an order that this server watches over, without asking the chain. */
  readonly knownEscrow: (orderId: Hex) => Pick<EscrowedOrder, 'state' | 'commit'> | undefined
  /** How much there is to do, counted when asked. */
  readonly backlog: () => Backlog
  /** In the order in which they start. */
  readonly services: readonly Service[]
}

export interface Backlog {
  /** Undefined while another server runs the orders. */
  readonly orders: QueueDepth | undefined
  /** Stored orders whose escrow this server has not seen. */
  readonly unopened: number
  /** Rulebooks that wait for a permit, by queue. */
  readonly waitingPolicies: ReturnType<PolicyRuns['waiting']>
}

/** Builds the parts and wires them. Starts nothing. */
export function createEnclaveRuns(options: EnclaveRunsOptions): EnclaveRuns {
  const { serveLease, termStores, records, runner, timeouts, rateLimit, stopping, logger } = options
  let active: TriggerTerm | undefined
  const room = createUnopenedRoom(options.unopened)
  const unopened = createUnopenedOrders({
    escrow: options.escrow,
    records,
    expiryMs: options.unopened.expiryMs,
    room,
    isSeen: (orderId) => active?.find(orderId) !== undefined,
    readsEvents: () => active !== undefined,
    logger,
    onFound: async (found, state) => active?.found(found, state),
  })
  const unopenedPoller = createPoller({
    name: 'unopened orders',
    intervalMs: WATCH_INTERVAL_MS,
    async tick() {
      // With the lease, each look at the events does it, after they are dealt with.
      if (active === undefined) await unopened.check()
    },
    logger,
  })
  const runs = createRuns({
    files: options.runRecords,
    runner,
    timeouts,
    observer: options.runObserver,
    logger,
  })
  const policyRuns = createPolicyRuns({ runs, rateLimit, timeoutMs: timeouts.policy, stopping })
  const lease = serveLease('trigger', (engine, term) => {
    const stores = termStores(engine)
    const { isShared } = engine
    const built = createTriggerTerm(options, { term, stores, isShared, unopened, policyRuns: runs })
    active = built
    const end: Service = {
      name: 'trigger',
      async start() {},
      async stop() {
        active = undefined
      },
    }
    return [end, ...built.services]
  })
  return {
    policyRuns,
    onStored(orderId, commit) {
      if (active?.stored(orderId, commit)) return room.leave(orderId)
      unopened.note(orderId)
    },
    room,
    knownEscrow: (orderId) => (active?.isTrusted() ? active.find(orderId) : undefined),
    backlog: () => ({
      orders: active?.depth(),
      unopened: unopened.count(),
      waitingPolicies: policyRuns.waiting(),
    }),
    services: [unopenedPoller, lease],
  }
}
