import type { BrokerClock } from '../../broker/index.js'
import type { Contracts } from '../../chain/contracts.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import { createHook, createPoller } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import type { Engine } from '../store/engine.js'
import type { ServeLease } from '../store/leaseHolder.js'
import { createOrderRecords, type OrderRecords } from '../store/orderRecords.js'
import { createRunRecords } from '../store/runRecords.js'
import { createUnopenedOrders, createUnopenedRoom, type RoomLimits } from './envelopeQuota.js'
import { createEnclaveDoor, createHttpRunner } from './httpRunner.js'
import { RETRY_TIMES, type RetryTimes } from './orderRun.js'
import { createOwnEnclave } from './ownEnclave.js'
import { createTriggerRateLimit } from './rateLimit.js'
import { createRuns, type RunObserver } from './runner.js'
import { createSealedJobs } from './sealedJobs.js'
import { createTriggerTerm, type TriggerOptions, type TriggerTerm } from './term.js'

/** Between two polls for results that other servers have received; an order's next run waits as long. */
const RESULT_POLL_MS = 500

export function buildEnclaveRuns(options: {
  readonly config: Config
  readonly engine: Engine
  readonly serveLease: ServeLease
  readonly contracts: Contracts
  readonly rpc: Pick<Rpc, 'send'>
  readonly marketClock: { getClock(): Promise<BrokerClock> }
  readonly records: OrderRecords
  readonly escrowObserver: EnclaveRunsOptions['escrowObserver']
  readonly runObserver: RunObserver
  readonly times?: RetryTimes | undefined
  readonly logger: Logger
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
}) {
  const { config, contracts, rpc, engine, logger, stopping, ...shared } = options
  const { maxRuns, triggerIntervalMs, orderRunTimeoutMs, policyRunTimeoutMs } = config.enclave
  const rateLimit = createTriggerRateLimit(triggerIntervalMs)
  const { trigger } = config.enclave
  // Every program gets the system's search path; it is not part of the server's configuration.
  const searchPath = process.env.PATH ?? ''
  const { url, secret, services } =
    trigger.kind === 'http'
      ? { ...trigger, services: [] }
      : createOwnEnclave({ ...trigger, searchPath, logger })
  const runner = createHttpRunner({
    door: createEnclaveDoor({ url, secret }),
    runRecords: createRunRecords({ engine, logger }),
    rateLimit,
    stopping,
    pollEveryMs: engine.isShared ? RESULT_POLL_MS : undefined,
    logger,
  })
  const runs = createEnclaveRuns({
    ...shared,
    engine,
    recordsOf: (fenced) => createOrderRecords({ engine: fenced, logger }),
    runner,
    timeouts: { order: orderRunTimeoutMs, policy: policyRunTimeoutMs, reconcile: orderRunTimeoutMs },
    maxRuns,
    rateLimit,
    unopened: config.unopened,
    marketIntervalMs: config.broker.marketClockMaxAgeMs,
    escrow: contracts.escrow,
    rpc,
    logBlockRange: config.chain.logRange,
    stopping,
    logger,
  })
  return { ...runs, router: { secret, results: runner }, services: [...services, ...runs.services] }
}

export interface EnclaveRunsOptions extends TriggerOptions {
  readonly serveLease: ServeLease
  /** For the work of every server: its rulebooks and stored orders. */
  readonly engine: Engine
  readonly records: OrderRecords
  /** @param engine with the fence of one term */
  readonly recordsOf: (engine: Engine) => OrderRecords
  readonly timeouts: TriggerOptions['timeouts'] & { readonly policy: number }
  /** Limits of the envelopes without an escrow, and how many milliseconds they are kept. */
  readonly unopened: RoomLimits & { readonly expiryMs: number }
}

/** Everything that starts enclave runs. Of several servers, one at a time runs orders and the reconcile. */
export type EnclaveRuns = ReturnType<typeof createEnclaveRuns>

/** Builds the parts and wires them. Starts nothing. */
export function createEnclaveRuns(options: EnclaveRunsOptions) {
  const { serveLease, recordsOf, records, runner, timeouts, rateLimit, stopping, logger } = options
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
    intervalMs: (options.times ?? RETRY_TIMES).escrowMs,
    async tick() {
      // With the lease, each poll of the escrow's events ends with this check.
      if (active === undefined) await unopened.check()
    },
    logger,
  })
  const runs = createRuns({
    runRecords: createRunRecords({ engine: options.engine, logger }),
    runner,
    timeouts,
    observer: options.runObserver,
    logger,
  })
  const sealedJobs = createSealedJobs({ runs, rateLimit, timeoutMs: timeouts.policy, stopping })
  const lease = serveLease('trigger', (engine, term) => {
    const built = createTriggerTerm(options, { term, engine, records: recordsOf(engine), unopened })
    active = built
    const end = createHook('trigger', {
      stop() {
        active = undefined
      },
    })
    return [end, ...built.services]
  })
  return {
    sealedJobs,
    /** An envelope was stored; its order runs once its escrow is open. */
    onStored(orderId: Hex, commit: Hex) {
      if (active?.stored(orderId, commit)) return room.leave(orderId)
      unopened.note(orderId)
    },
    /** A cancel was stored; its order's next run has it. */
    onCancelled: (orderId: Hex, commit: Hex) => active?.cancelled(orderId, commit),
    /** For envelopes whose escrow is not known to be open. */
    room,
    /** The escrow of an order that this server tracks, from memory. */
    knownEscrow: (orderId: Hex) => (active?.isTrusted() ? active.find(orderId) : undefined),
    backlog: () => ({
      /** Undefined while another server runs the orders. */
      orders: active?.depth(),
      /** Stored orders whose escrow this server has not seen. */
      unopened: unopened.count(),
      /** Sealed jobs that wait for a permit, by queue. */
      waitingJobs: sealedJobs.waiting(),
    }),
    /** In the order in which they start. */
    services: [unopenedPoller, lease],
  }
}
