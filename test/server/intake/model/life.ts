import { createOrders } from '../../../../src/server/intake/orders.js'
import type { Engine } from '../../../../src/server/store/engine.js'
import { createOrderRecords } from '../../../../src/server/store/orderRecords.js'
import { prepareDatabase } from '../../../../src/server/store/sqlite/database.js'
import { createEnclaveRuns } from '../../../../src/server/trigger/enclaveRuns.js'
import { createTriggerRateLimit } from '../../../../src/server/trigger/rateLimit.js'
import type { EnclaveRunner } from '../../../../src/server/trigger/runner.js'
import { createLifetime } from '../../../../src/service/lifetime.js'
import { createLogLines } from '../../../support/logLines.js'
import { openQuickly } from '../../../support/quickStores.js'
import { serverConfig } from '../../../support/serverEnvironment.js'
import { serveLeaseOf } from '../../../support/stores.js'
import type { EscrowChain } from './escrowChain.js'

export type Life = Awaited<ReturnType<typeof startLife>>

const FAR = new Date('2096-10-02T07:06:40.000Z')

/**
 * One life of the server's part that takes orders in and runs them, without its HTTP.
 * @param turn resolves when the step may be made: it is up to the scheduler whose turn it is
 */
export async function startLife(
  root: string,
  chain: EscrowChain,
  enclave: { readonly runner: EnclaveRunner },
  turn: (step: string) => Promise<void>,
) {
  let isDead = false
  /** A step that a killed process has begun happens or not; the process never hears of it. */
  async function step<T>(name: string, action: () => Promise<T>): Promise<T> {
    if (!isDead) await turn(name)
    const result = isDead ? undefined : { value: await action() }
    return isDead || result === undefined ? new Promise<T>(() => undefined) : result.value
  }
  // Each start ends the terms of the life before.
  prepareDatabase(root)
  const own = await openQuickly(root)
  const engine = stepwise(own, step)
  const { logger } = createLogLines()
  const records = createOrderRecords({ engine, logger })
  const escrow: EscrowChain['escrow'] = {
    ...chain.escrow,
    orders: (orderId) => step('escrow', () => chain.escrow.orders(orderId)),
  }
  const trigger = createEnclaveRuns({
    serveLease: serveLeaseOf(engine, logger),
    config: serverConfig({ ENCLAVE_MAX_RUNS: '4', RPC_LOG_RANGE: '4' }),
    engine,
    records,
    runner: {
      ...enclave.runner,
      run: (job, note) => (isDead ? new Promise(() => undefined) : enclave.runner.run(job, note)),
    },
    rateLimit: createTriggerRateLimit(0),
    escrow,
    rpc: { send: (calls) => step('node', () => chain.rpc.send(calls)) },
    escrowObserver: { onHead() {}, onEvents() {} },
    stopping: new AbortController().signal,
    marketClock: {
      getClock: async () => ({ timestamp: new Date(), isOpen: true, nextOpen: FAR, nextClose: FAR }),
    },
    logger,
  })
  const { onStored, room, knownEscrow } = trigger
  const lifetime = createLifetime(trigger.services, logger)
  void lifetime.start()
  return {
    records,
    orders: createOrders({ records, escrow, onEscrowSeen() {}, onStored, room, knownEscrow }),
    /** From now on nothing that it does has an effect, and nothing that it waits for comes. */
    kill() {
      isDead = true
      // Its timers would go on; whatever they do comes to nothing.
      void lifetime.stop()
      void own.stop()
    },
  }
}

type Step = <T>(name: string, action: () => Promise<T>) => Promise<T>

function stepwise(engine: Engine, step: Step): Engine {
  return {
    ...engine,
    get: (table, id) => step(`get ${table}`, () => engine.get(table, id)),
    open: (table) => step(`open ${table}`, () => engine.open(table)),
    openIds: (table) => step(`open ${table}`, () => engine.openIds(table)),
    transact: (changes, fence) => step('transact', () => engine.transact(changes, fence)),
    getMany: (table, ids) => step(`get ${table}`, () => engine.getMany(table, ids)),
  }
}
