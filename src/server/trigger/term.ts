import type { BrokerClock } from '../../broker/index.js'
import type { Contracts, EscrowedOrder } from '../../chain/contracts.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import { createHook, createPoller } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import { inBatches } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import {
  createBackfill,
  createEscrowEvents,
  createRangeReader,
  type EscrowEvent,
  type EscrowObserver,
  type OpenedOrder,
} from '../escrow/escrowLogs.js'
import { createEscrowPoller } from '../escrow/escrowPoller.js'
import type { Engine } from '../store/engine.js'
import type { Term } from '../store/leaseHolder.js'
import { createOrderRecords } from '../store/orderRecords.js'
import { createRunRecords } from '../store/runRecords.js'
import type { UnopenedOrders } from './envelopeQuota.js'
import { createOrderRuns, RETRY_TIMES, type RetryTimes } from './orderRun.js'
import type { TriggerRateLimit } from './rateLimit.js'
import { createReconcile } from './reconcile.js'
import { BATCH, createRecordAttempts, recover } from './recovery.js'
import { createRuns, type EnclaveRunner, type RunObserver } from './runner.js'
import { createScheduler, type Scheduler } from './scheduler.js'

/** The work of the server that holds the lease `trigger`: it reads the escrow's events, and starts and follows runs. */
export type TriggerTerm = ReturnType<typeof createTriggerTerm>

export interface TriggerOptions {
  readonly config: Pick<Config, 'enclave' | 'unopened' | 'broker' | 'chain'>
  /** Each write of a term has its fence. */
  readonly engine: Engine
  readonly runner: EnclaveRunner
  readonly rateLimit: TriggerRateLimit
  readonly escrow: Contracts['escrow']
  readonly rpc: Pick<Rpc, 'send'>
  readonly escrowObserver: EscrowObserver
  readonly stopping: AbortSignal
  readonly marketClock: { getClock(): Promise<BrokerClock> }
  readonly times?: RetryTimes | undefined
  readonly runObserver?: RunObserver
  readonly logger: Logger
}

/** Pause between two polls of all stored orders, for those without an event. */
const SWEEP_INTERVAL_MS = 30_000

/** The place of an order whose event was not seen: after all others. */
const LAST_POSITION = { block: Number.MAX_SAFE_INTEGER, logIndex: 0 }

export function createTriggerTerm(options: TriggerOptions, term: Term, unopened: UnopenedOrders) {
  const { config, engine, rateLimit, escrow, times = RETRY_TIMES, rpc, marketClock, logger } = options
  // Other servers store orders too.
  const { isShared } = engine
  const records = createOrderRecords({ engine, logger })
  const stopping = AbortSignal.any([options.stopping, term.signal])
  const runs = createRuns({
    ...options,
    runRecords: createRunRecords({ engine, logger }),
    timeoutMs: config.enclave.orderRunTimeoutMs,
    over: term.signal,
  })
  const orderRuns = createOrderRuns({ records, runs, times, logger })
  const observer = options.escrowObserver
  const events = createEscrowEvents({ rpc, escrow: escrow.address, stopping, observer })
  const ranges = createRangeReader(events, config.chain.logRange)
  const backfill = createBackfill({ events, ranges })
  const attempt = createRecordAttempts('cancel not closed', logger)
  const scheduler = createScheduler({
    ...{ records, orderRuns, rateLimit, times, logger },
    maxRuns: config.enclave.maxRuns,
    onFinal: () => poller.poke(),
  })
  const poller = createEscrowPoller({
    events,
    ranges,
    intervalMs: times.escrowMs,
    async recover() {
      // First, so that they count against the quota even while no node answers.
      for (const orderId of await records.openIds()) unopened.noteStored(orderId, !isShared)
      // Cancels are read before anything runs: a start of the server places no order that has been cancelled.
      await scheduler.readCancels()
      return recover({ events, backfill, escrow, records, scheduler, logger })
    },
    onEvent: (event, isPast) => handleEvent(scheduler, escrow, event, isPast),
    async onPolled() {
      await scheduler.retry()
      await scheduler.readCancels()
      await inBatches(scheduler.untrackedCancels(), BATCH, closeIfEnded)
      if (isShared) await scheduler.readEnvelopes()
      await unopened.check()
    },
    logger,
  })
  const reconcile = createReconcile({ runs, rateLimit, clock: marketClock, engine, logger })
  const market = createPoller({
    name: 'market',
    intervalMs: config.broker.marketClockMaxAgeMs,
    tick: () => scheduler.checkMarket(async () => (await marketClock.getClock()).isOpen),
    logger,
  })
  const adoption = createHook('runs', {
    async start() {
      // A rulebook's run is followed by the server that started it. Without that server, `clear` removes its row in time.
      for (const run of await runs.adopt(({ job }) => job === 'order' || job === 'reconcile')) {
        rateLimit.note(Date.parse(run.record.startedAt))
        if (run.record.job === 'order') scheduler.adopt(run)
        else reconcile.adopt(run)
      }
    },
  })

  /**
   * A cancel that was stored while its order ended, or while no server ran. One whose record fails is tried again with the next poll and
   * delays nothing else.
   */
  async function closeIfEnded(orderId: Hex): Promise<void> {
    const { state } = await escrow.orders(orderId)
    if (state !== 'SETTLED' && state !== 'REFUNDED') return
    await attempt(orderId, () => scheduler.closeCancel(orderId))
  }

  const sweep = createPoller({
    name: 'trigger sweep',
    intervalMs: SWEEP_INTERVAL_MS,
    async tick() {
      await runs.clear()
      if (!isShared) return
      for (const orderId of await records.openIds()) {
        if (scheduler.find(orderId) === undefined) unopened.noteStored(orderId, false)
      }
    },
    logger,
  })

  return {
    services: [adoption, scheduler, poller, market, reconcile.service, sweep],
    isTrusted: term.isTrusted,
    stored(orderId: Hex, commit: Hex) {
      const isTracked = scheduler.stored(orderId, commit)
      if (!isTracked) poller.poke()
      return isTracked
    },
    cancelled(orderId: Hex, commit: Hex) {
      if (!scheduler.cancelled(orderId, commit)) poller.poke()
    },
    find: scheduler.find,
    depth: scheduler.depth,
    silentMs: poller.silentMs,
    /** Handles an order whose escrow was read because no event of it was seen. */
    found: (order: Omit<OpenedOrder, 'position'>, state: EscrowedOrder['state']) =>
      scheduler.seen({ ...order, position: LAST_POSITION }, state),
  }
}

async function handleEvent(
  scheduler: Scheduler,
  escrow: Contracts['escrow'],
  event: EscrowEvent,
  isPast: boolean,
): Promise<void> {
  if (event.kind === 'opened') {
    // The event of its end, if any, comes later.
    if (!isPast) return scheduler.opened(event)
    // A repeated event may be of an order that has ended since.
    const { state } = await escrow.orders(event.orderId)
    return scheduler.seen(event, state)
  }
  const order = scheduler.find(event.orderId)
  if (order === undefined) return
  await scheduler.closed(order, event.kind === 'settled' ? 'SETTLED' : 'REFUNDED')
}
