import type { Signers } from '../../chain/authorityView.js'
import type { Hex } from '../../protocol/hex.js'
import { createHook, createPoller } from '../../service/lifetime.js'
import type { ServeLease } from '../store/leaseHolder.js'
import type { OrderRecords } from '../store/orderRecords.js'
import { createRunRecords } from '../store/runRecords.js'
import { createDoor } from './door.js'
import { createUnopenedOrders, createUnopenedRoom } from './envelopeQuota.js'
import { createHttpRunner } from './httpRunner.js'
import { RETRY_TIMES } from './orderRun.js'
import { createOwnEnclave } from './ownEnclave.js'
import { createTriggerRateLimit } from './rateLimit.js'
import { createRuns } from './runner.js'
import { createSealedJobs } from './sealedJobs.js'
import { createTriggerTerm, type TriggerOptions, type TriggerTerm } from './term.js'

/** Pause between two polls for results that other servers have received; an order's next run waits as long. */
const RESULT_POLL_MS = 500

/** Uses the enclave of the configuration, and the server's way to it. */
export function buildEnclaveRuns(
  options: Omit<Parameters<typeof createEnclaveRuns>[0], 'runner' | 'rateLimit'> & {
    readonly signers: () => Promise<Signers>
  },
) {
  const { config, engine, logger, stopping, signers } = options
  const { trigger, triggerIntervalMs } = config.enclave
  const rateLimit = createTriggerRateLimit(triggerIntervalMs)
  // Every program gets the system's search path; it is not part of the server's configuration.
  const searchPath = process.env.PATH ?? ''
  const { urls, secret, services } =
    trigger.kind === 'http'
      ? { ...trigger, services: [] }
      : createOwnEnclave({ ...trigger, searchPath, logger })
  const door = createDoor(urls, signers)
  const runner = createHttpRunner({
    ...{ url: door.url, secret, rateLimit, stopping, logger },
    runRecords: createRunRecords({ engine, logger }),
    pollEveryMs: engine.isShared ? RESULT_POLL_MS : undefined,
  })
  const runs = createEnclaveRuns({ ...options, runner, rateLimit })
  return {
    ...runs,
    router: { secret, results: runner },
    door: { ...door, secret },
    services: [...services, ...runs.services],
  }
}

/** Everything that starts enclave runs. Of several servers, one at a time runs orders and the reconcile. */
export type EnclaveRuns = ReturnType<typeof createEnclaveRuns>

export function createEnclaveRuns(
  options: TriggerOptions & {
    readonly serveLease: ServeLease
    /** The stored orders of every server; those of a term have its fence. */
    readonly records: OrderRecords
  },
) {
  const { config, engine, escrow, records, rateLimit, logger } = options
  const { orderRunTimeoutMs, policyRunTimeoutMs } = config.enclave
  let active: TriggerTerm | undefined
  const room = createUnopenedRoom(config.unopened)
  const unopened = createUnopenedOrders({
    ...{ escrow, records, room, logger },
    expiryMs: config.unopened.expiryMs,
    isSeen: (orderId) => active?.find(orderId) !== undefined,
    readsEvents: () => active !== undefined,
    onFound: async (found, state) => active?.found(found, state),
  })
  const unopenedPoller = createPoller({
    name: 'unopened orders',
    intervalMs: (options.times ?? RETRY_TIMES).escrowMs,
    async tick() {
      // The term of a server that has the lease makes this check after each poll of the escrow's events.
      if (active === undefined) await unopened.check()
    },
    logger,
  })
  const sealedJobs = createSealedJobs({
    runs: createRuns({
      ...options,
      runRecords: createRunRecords({ engine, logger }),
      timeoutMs: orderRunTimeoutMs,
    }),
    rateLimit,
    timeoutMs: policyRunTimeoutMs,
    stopping: options.stopping,
  })
  const lease = options.serveLease('trigger', (fenced, term) => {
    const built = createTriggerTerm({ ...options, engine: fenced }, term, unopened)
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
      if (active?.stored(orderId, commit)) return room.free(orderId)
      unopened.note(orderId)
    },
    /** A cancel was stored; its order's next run has it. */
    onCancelled: (orderId: Hex, commit: Hex) => active?.cancelled(orderId, commit),
    room,
    /** The escrow of an order that this server tracks, from memory. */
    knownEscrow: (orderId: Hex) => (active?.isTrusted() ? active.find(orderId) : undefined),
    backlog: () => ({
      /** Undefined while another server runs the orders. */
      orders: active?.depth(),
      /** Milliseconds since the escrow's events were last read to the head; undefined as above. */
      silentMs: active?.silentMs(),
      unopened: unopened.count(),
      waitingJobs: sealedJobs.waiting(),
    }),
    services: [unopenedPoller, lease],
  }
}
