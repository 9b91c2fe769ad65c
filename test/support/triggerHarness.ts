import express from 'express'
import { onTestFinished } from 'vitest'
import { createContracts } from '../../src/chain/contracts.js'
import { createRpc } from '../../src/chain/rpc.js'
import { createViewCaller } from '../../src/chain/views.js'
import { commitOf, type Envelope } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import { errorHandler } from '../../src/server/http/errors.js'
import { routerOf } from '../../src/server/http/routes.js'
import {
  createOrderRecords,
  emptyOrderRecord,
  type OrderRecord,
} from '../../src/server/store/orderRecords.js'
import { createRunRecords } from '../../src/server/store/runRecords.js'
import { createEnclaveRuns } from '../../src/server/trigger/enclaveRuns.js'
import { createHttpRunner, runRoutes } from '../../src/server/trigger/httpRunner.js'
import { createTriggerRateLimit } from '../../src/server/trigger/rateLimit.js'
import { createLifetime } from '../../src/service/lifetime.js'
import { Secret } from '../../src/service/secret.js'
import type { TestChain } from './chain.js'
import { eventually } from './eventually.js'
import { firstLook } from './firstLook.js'
import { openFor, sealOrder } from './intakeServer.js'
import { createLogLines } from './logLines.js'
import type { Role } from './roles.js'
import { createScriptedEnclave, type ScriptedEnclave, type Step } from './scriptedEnclave.js'
import { RUN_SECRET, serverConfig } from './serverEnvironment.js'
import { openStores, serveLeaseOf } from './stores.js'
import { temporaryDirectory } from './temporaryDirectory.js'

/** Short waits, so that a test sees five failures in a second. */
export const TIMES = {
  ...{ failedMs: 50, failedMaxMs: 400, waitingMs: 100, leastMs: 20 },
  ...{ storageMs: 100, escrowMs: 50 },
}
const FAR_AHEAD = new Date('2096-10-02T07:06:40.000Z')

type RunnerOptions = Parameters<typeof createHttpRunner>[0]

/** As the server's own, but a run that finds no enclave ends soon. */
export const OFFER_TIMES = { againMs: 20, againMaxMs: 40, absentAgainMs: 20, absentMs: 100 }

export function startHttpRunner(options: Omit<RunnerOptions, 'secret' | 'times'>) {
  return createHttpRunner({ ...options, secret: new Secret(RUN_SECRET), times: OFFER_TIMES })
}

/** The server's way to the enclave, there and back. */
function connectEnclave(
  enclave: ScriptedEnclave,
  options: Pick<RunnerOptions, 'runRecords' | 'rateLimit' | 'stopping' | 'logger'>,
) {
  const runner = startHttpRunner({ ...options, url: async () => enclave.url })
  const app = express()
  app.use(
    routerOf(runRoutes({ secret: new Secret(RUN_SECRET), results: runner })),
    errorHandler(options.logger),
  )
  enclave.postTo(app)
  return runner
}

/** Parts of the trigger in place of its own, and variables of the server's environment. */
export type TriggerChanges = Partial<Omit<Parameters<typeof createEnclaveRuns>[0], 'config'>> & {
  readonly env?: Record<string, string>
}

/** The part of the server that runs the enclave, on a real chain; of its HTTP side only what the enclave posts to. */
export async function startTrigger(
  chain: TestChain,
  enclave: ScriptedEnclave | undefined,
  root: string,
  changes: TriggerChanges = {},
) {
  const { anvil, addresses } = chain
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000, chainId: anvil.chainId })
  const { logger, text, lines } = createLogLines()
  const { env, ...parts } = changes
  const { engine = (await openStores(root)).engine } = parts
  const { records = createOrderRecords({ engine, logger }), rateLimit = createTriggerRateLimit(0) } = parts
  const stopping = new AbortController()
  const runRecords = createRunRecords({ engine, logger })
  const runner =
    parts.runner ??
    (enclave && connectEnclave(enclave, { runRecords, rateLimit, stopping: stopping.signal, logger }))
  if (runner === undefined) throw new Error('expected an enclave or a runner')
  const trigger = createEnclaveRuns({
    serveLease: serveLeaseOf(engine, logger),
    config: serverConfig({ ENCLAVE_MAX_RUNS: '4', RPC_LOG_RANGE: '10', ...env }),
    engine,
    records,
    runner,
    rateLimit,
    escrow: createContracts(createViewCaller(rpc), addresses).escrow,
    rpc,
    escrowObserver: { onHead() {}, onEvents() {} },
    stopping: stopping.signal,
    marketClock: {
      getClock: async () => ({
        timestamp: new Date(),
        isOpen: true,
        nextOpen: FAR_AHEAD,
        nextClose: FAR_AHEAD,
      }),
    },
    times: TIMES,
    logger,
    ...parts,
  })
  const lifetime = createLifetime(trigger.services, logger)
  await lifetime.start()
  await firstLook(text)
  let stopped: Promise<void> | undefined
  const stop = () => {
    if (stopped === undefined) enclave?.postTo(undefined)
    stopping.abort()
    stopped ??= lifetime.stop()
    return stopped
  }
  onTestFinished(stop)

  /** Stores an envelope as the intake does. */
  async function store(orderId: Hex, envelope: Envelope): Promise<void> {
    const commit = commitOf(envelope)
    const candidate = { envelope, commit, receivedAt: new Date().toISOString() }
    await records.update(orderId, (current) => ({
      ...(current ?? emptyOrderRecord(orderId)),
      candidates: [candidate],
    }))
    trigger.onStored(orderId, commit)
  }

  return {
    trigger,
    records,
    stop,
    logText: text,
    logLines: lines,
    store,
    /** Opens an order and stores its envelope; resolves with the envelope. */
    async place(from: Role, orderId: Hex): Promise<Envelope> {
      const envelope = await sealOrder(orderId)
      await openFor(chain, from, orderId, envelope)
      await store(orderId, envelope)
      return envelope
    },
    /** The order's record once it is as wanted. */
    until: (orderId: Hex, what: string, holds: (record: OrderRecord) => boolean) =>
      eventually(what, async () => {
        const record = await records.get(orderId)
        return record !== undefined && holds(record) && record
      }),
  }
}

export const PLACED: Step = { outcome: 'placed', retryAt: 4_000_000_000 }

/** A directory and an enclave that does what the plan says, else leaves its orders at the broker, for triggers that start there. */
export async function triggerSetting(
  chain: TestChain,
  plan: Record<string, Step[]> = {},
  changes: TriggerChanges = {},
) {
  const directory = await temporaryDirectory()
  const enclave = await createScriptedEnclave(directory)
  await enclave.plan({ any: [PLACED], ...plan })
  const root = `${directory}/data`
  return {
    directory,
    enclave,
    root,
    start: (more: TriggerChanges = {}) => startTrigger(chain, enclave, root, { ...changes, ...more }),
    /** The orders of the runs, or their kinds, in the order in which they started. */
    keys: async () => (await enclave.notes()).flatMap(({ event, key }) => (event === 'started' ? [key] : [])),
  }
}

export async function triggerUnderTest(...args: Parameters<typeof triggerSetting>) {
  const setting = await triggerSetting(...args)
  return { ...setting, ...(await setting.start()) }
}

/** The outcomes of an order's runs so far. */
export function outcomes(record: OrderRecord): (string | null)[] {
  return record.triggers.map(({ outcome }) => outcome)
}
