import type { Contracts } from '../../chain/contracts.js'
import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { RpcTransport } from '../../chain/rpcTransport.js'
import type { Hex } from '../../protocol/hex.js'
import { isReclaimable } from '../../protocol/reclaimDelay.js'
import type { Logger } from '../../service/logger.js'
import {
  type ClosedEvent,
  createEscrowEvents,
  type EscrowEvent,
  type EscrowEvents,
  type EscrowObserver,
  type OpenedOrder,
  observedEvents,
} from '../escrow/escrowLogs.js'
import { createEscrowPoller } from '../escrow/escrowPoller.js'
import { createLookBack, createRangeReader } from '../escrow/logRanges.js'
import type { Service } from '../lifetime.js'
import type { OrderRecords } from '../store/orderRecords.js'
import type { ReconcileStateStore } from '../store/reconcileState.js'
import type { RunRecords } from '../store/runRecords.js'
import {
  createUnopenedOrders,
  createUnopenedRoom,
  type RoomLimits,
  type UnopenedRoom,
} from './envelopeQuota.js'
import type { QueueDepth } from './orderQueue.js'
import { createOrderRuns } from './orderRun.js'
import { createPolicyRuns, type PolicyRuns } from './policyRuns.js'
import type { TriggerRateLimit } from './rateLimit.js'
import { createReconcile, type ReconcileOptions } from './reconcile.js'
import { recover } from './recovery.js'
import { RETRY_TIMES, type RetryTimes } from './retry.js'
import { createRuns, type EnclaveRunner, type RunObserver, type RunsOptions } from './runner.js'
import { createScheduler, type Scheduler } from './scheduler.js'

export interface EnclaveRunsOptions {
  readonly reconcileState: ReconcileStateStore
  readonly runRecords: RunRecords
  readonly records: OrderRecords
  readonly runner: EnclaveRunner
  readonly timeouts: RunsOptions['timeouts'] & { readonly policy: number }
  readonly maxRuns: number
  /** Between two runs that are triggered, of whatever kind. */
  readonly rateLimit: TriggerRateLimit
  /** Of what is stored without an escrow; for how many milliseconds. */
  readonly unopened: RoomLimits & { readonly expiryMs: number }
  readonly escrow: Contracts['escrow']
  readonly transport: RpcTransport
  /** Blocks that one query of events may span. */
  readonly logBlockRange: number
  /** Is told of what the watcher reads. */
  readonly escrowObserver: EscrowObserver
  /** The authorizations to end an order that were relayed, to be kept in its record. */
  readonly relayedDigests: (orderId: Hex) => readonly Hex[]
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  readonly marketClock: ReconcileOptions['clock']
  /** Undefined: once after each market's close. */
  readonly reconcileIntervalMs: number | undefined
  readonly times?: RetryTimes
  /** Is told of each run. */
  readonly runObserver?: RunObserver
  readonly logger: Logger
}

/** Everything that starts enclave runs. */
export interface EnclaveRuns {
  readonly policyRuns: PolicyRuns
  /** An envelope was stored; it runs as soon as its escrow is seen to be open. */
  readonly onStored: (orderId: Hex, commit: Hex) => void
  /** For envelopes whose escrow is not known to be open. */
  readonly room: Pick<UnopenedRoom, 'refusal' | 'take'>
  /** The escrow of an order that is watched over, without asking the chain. */
  readonly knownEscrow: (orderId: Hex) => Pick<EscrowedOrder, 'state' | 'commit'> | undefined
  /** How much there is to do, counted when asked. */
  readonly backlog: () => Backlog
  /** In the order in which they start. */
  readonly services: readonly Service[]
}

export interface Backlog extends QueueDepth {
  /** Stored orders whose escrow has not been seen. */
  readonly unopened: number
  /** Rulebooks that wait for a permit, by queue. */
  readonly waitingPolicies: ReturnType<PolicyRuns['waiting']>
}

/** Between two looks at the escrow's events; what this server brings about itself is looked for at once. */
const WATCH_INTERVAL_MS = 2_000

/** Of an order whose event was not seen: after all others. */
const JUST_NOW = { block: Number.MAX_SAFE_INTEGER, logIndex: 0 }

/** Builds the parts and wires them. Starts nothing. */
export function createEnclaveRuns(options: EnclaveRunsOptions): EnclaveRuns {
  const { runRecords, records, runner, timeouts, maxRuns, rateLimit, escrow, logger } = options
  const runs = createRuns({ files: runRecords, runner, timeouts, observer: options.runObserver, logger })
  const { times = RETRY_TIMES, relayedDigests, transport, stopping } = options
  const orderRuns = createOrderRuns({ records, runs, times, relayedDigests, logger })
  const read = createEscrowEvents({ transport, escrow: escrow.address, stopping })
  const events = observedEvents(read, options.escrowObserver)
  const ranges = createRangeReader(events, options.logBlockRange)
  const lookBack = createLookBack({ events, ranges })
  const scheduler = createScheduler({
    records,
    orderRuns,
    rateLimit,
    maxRuns,
    logger,
    onFinal: () => watcher.poke(),
  })
  const room = createUnopenedRoom(options.unopened)
  const unopened = createUnopenedOrders({
    escrow,
    records,
    expiryMs: options.unopened.expiryMs,
    room,
    isSeen: (orderId) => scheduler.find(orderId) !== undefined,
    logger,
    onFound: (found, state) => handleOpened(scheduler, { ...found, position: JUST_NOW }, state),
  })
  const watcher = createEscrowPoller({
    events,
    ranges,
    intervalMs: WATCH_INTERVAL_MS,
    async recover() {
      // Before the chain is asked: they take their room also while no node answers.
      for (const orderId of await records.openIds()) unopened.note(orderId, 0)
      return recover({ events, lookBack, escrow, records, scheduler, logger })
    },
    onEvent: (event, isPast) => handleEvent(scheduler, { escrow, events }, event, isPast),
    async onLooked() {
      await scheduler.retry()
      await unopened.check()
    },
    logger,
  })
  const reconcile = createReconcile({
    runs,
    rateLimit,
    clock: options.marketClock,
    state: options.reconcileState,
    intervalMs: options.reconcileIntervalMs,
    logger,
  })
  const adoption: Service = {
    name: 'runs',
    async start() {
      for (const run of await runs.adopt()) {
        rateLimit.note(Date.parse(run.file.startedAt))
        if (run.file.job === 'order') scheduler.adopt(run)
        else if (run.file.job === 'reconcile') reconcile.adopt(run)
        // A rulebook's caller is gone.
        else void run.end.then(() => run.discard())
      }
    },
    async stop() {},
  }
  const policyRuns = createPolicyRuns({ runs, rateLimit, timeoutMs: timeouts.policy, stopping })
  return {
    policyRuns,
    onStored(orderId, commit) {
      if (scheduler.stored(orderId, commit)) return room.leave(orderId)
      unopened.note(orderId, Date.now())
      watcher.poke()
    },
    room,
    knownEscrow: scheduler.find,
    backlog: () => ({
      ...scheduler.depth(),
      unopened: unopened.count(),
      waitingPolicies: policyRuns.waiting(),
    }),
    services: [adoption, scheduler, watcher, reconcile.service],
  }
}

interface Chain {
  readonly escrow: Contracts['escrow']
  readonly events: EscrowEvents
}

async function handleEvent(
  scheduler: Scheduler,
  chain: Chain,
  event: EscrowEvent,
  isPast: boolean,
): Promise<void> {
  if (event.kind === 'opened') {
    // Its end, if any, is still to come.
    if (!isPast) return scheduler.opened(event)
    // An event that comes again may be of an order that has ended since.
    const { state } = await chain.escrow.orders(event.orderId)
    return handleOpened(scheduler, event, state)
  }
  const order = scheduler.find(event.orderId)
  if (order === undefined) return
  if (order.running && !(await mayBeReclaim(chain, event))) scheduler.seenOnChain(order.orderId, event.kind)
  await scheduler.closed(order, event.kind === 'settled' ? 'SETTLED' : 'REFUNDED')
}

/** A refund by the account itself looks like one by the enclave. */
async function mayBeReclaim({ escrow, events }: Chain, event: ClosedEvent): Promise<boolean> {
  if (event.kind === 'settled') return false
  const { deadline } = await escrow.orders(event.orderId)
  const time = await events.blockTime(event.position.block)
  return time === undefined || isReclaimable(deadline, time)
}

/** @param state as the escrow tells; NONE when the node that was asked is behind the event */
async function handleOpened(
  scheduler: Scheduler,
  order: OpenedOrder,
  state: EscrowedOrder['state'],
): Promise<void> {
  if (state === 'OPEN' || state === 'NONE') await scheduler.opened(order)
  else await scheduler.closed(order, state)
}
