import * as z from 'zod'
import { isChainFailure } from '../../chain/errors.js'
import { LEAST_GAS } from '../../chain/fees.js'
import { blockCall, blockSchema, quantitySchema, resultOf } from '../../chain/jsonRpc.js'
import type { Rpc } from '../../chain/rpc.js'
import { hasCode } from '../../chain/views.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { describeError, type Logger } from '../../service/logger.js'
import { stateOfPrivateFile } from '../../service/privateFile.js'
import { createSharedValue } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import type { NarratorProgress } from '../narrator/poll.js'
import type { RelayHealth } from '../relay/account.js'
import type { BuiltRelay } from '../relay/build.js'
import type { GasLimits } from '../relay/gasBudget.js'
import { createStateDocument, type StateDocument } from '../store/documents.js'
import { type Engine, type Leases, StorageError } from '../store/engine.js'
import { servedLeases } from '../store/leaseHolder.js'
import type { EnclaveRuns } from '../trigger/enclaveRuns.js'

export type Phase = 'starting' | 'running' | 'stopping'

/** The state of a part of the server. Degraded: see to it. Unhealthy: no order can be completed. */
export type CheckStatus = 'healthy' | 'degraded' | 'unhealthy'

/**
 * Every reason why a check is not healthy, with its severity; this table alone decides it. docs/operations/every-day.md has a row for
 * each.
 */
export const REASONS = {
  starting: 'unhealthy',
  stopping: 'unhealthy',
  'no-answer-in-time': 'unhealthy',
  'check-failed': 'unhealthy',
  'no-node-answers': 'unhealthy',
  'other-chain': 'unhealthy',
  'node-set-aside': 'degraded',
  'head-old': 'degraded',
  'contract-missing': 'unhealthy',
  'chain-unavailable': 'unhealthy',
  'relayer-underfunded': 'unhealthy',
  'gas-reserve-used-up': 'unhealthy',
  'gas-budget-used-up': 'degraded',
  'key-used-elsewhere': 'degraded',
  'gas-budget-low': 'degraded',
  'balance-low': 'degraded',
  'enclave-program-missing': 'unhealthy',
  'enclave-configuration-unreadable': 'unhealthy',
  'enclave-configuration-shared': 'unhealthy',
  'enclave-host-unreachable': 'unhealthy',
  'enclave-keys-awaited': 'unhealthy',
  'store-not-writable': 'unhealthy',
  'standby-missing': 'unhealthy',
  'store-not-durable': 'degraded',
  'lease-not-served': 'degraded',
  'orders-unread': 'unhealthy',
  'narration-behind': 'degraded',
  'narration-stalled': 'degraded',
  'narration-unread': 'degraded',
} as const satisfies Record<string, Exclude<CheckStatus, 'healthy'>>

type CheckReason = keyof typeof REASONS

/** Inspects one part of the server. Returns why it is not healthy, or null. */
type Inspection = () => Promise<CheckReason | null>

/** The inspection of each part, and the two that remember something for the metrics. */
export function createInspections(deps: {
  readonly config: Config
  readonly rpc: Rpc
  readonly engine: Engine
  readonly relay: Pick<BuiltRelay, 'health' | 'lease'>
  readonly enclaveRuns: Pick<EnclaveRuns, 'backlog'> & { readonly door: { readonly fault: Inspection } }
  readonly progress: NarratorProgress
  readonly logger: Logger
}) {
  const { config, rpc, engine, relay, enclaveRuns, progress, logger } = deps
  const relayer = createRelayerView(relay.health, config.relay.gas)
  const document = createStateDocument({ engine, logger, id: 'readiness', schema: z.int() })
  const store = createStoreView(document, engine)
  const inspections = {
    chain: inspectChain(rpc, config.chain.chainId),
    contracts: inspectContracts(rpc, config.chain.contracts),
    relayer: relayer.inspect,
    enclave: inspectEnclaveOf(config.enclave.trigger, enclaveRuns.door.fault),
    store: store.inspect,
    leases: inspectLeases(engine.leases, ['narrator', 'trigger', relay.lease]),
    orders: inspectOrders(enclaveRuns.backlog),
    narrator: inspectNarrator(progress),
  }
  return { relayer, store, inspections }
}

function inspectEnclaveOf(trigger: Config['enclave']['trigger'], door: Inspection): Inspection {
  if (trigger.kind === 'http') return door
  const program = inspectEnclave(trigger)
  return async () => (await program()) ?? (await door())
}

const LIMIT_MS = 2_000
const FRESH_MS = 1_000

/**
 * A check, which answers within the time limit and never rejects. Concurrent callers share one inspection, and callers shortly afterwards
 * share its result. While an inspection hangs, only its first callers wait for the time limit: the others fail immediately, and no other
 * inspection begins.
 */
export function createCheck(name: string, inspect: Inspection, logger: Logger) {
  function reasonOf(error: unknown): CheckReason {
    if (isChainFailure(error)) return 'chain-unavailable'
    logger.error('check failed', { service: name, ...describeError(error) })
    return 'check-failed'
  }
  const shared = createSharedValue({
    load: async () => resultFor(await inspect().catch(reasonOf)),
    freshMs: () => FRESH_MS,
    patienceMs: LIMIT_MS,
  })
  return async () => (await shared.inTime()) ?? resultFor('no-answer-in-time')
}

function resultFor(reason: CheckReason | null) {
  return { status: reason === null ? ('healthy' as const) : REASONS[reason], reason }
}

/** The state of the server, that of its worst part. Never rejects, and answers within the time limit of a check. */
export type Readiness = ReturnType<typeof createReadiness>

/** @param inspections by the name of the part, made concurrently; a start or a stop shows without one */
export function createReadiness(
  phase: () => Phase,
  inspections: Readonly<Record<string, Inspection>>,
  logger: Logger,
) {
  const checks = Object.entries(inspections).map(
    ([name, inspect]) => [name, createCheck(name, inspect, logger)] as const,
  )
  return async () => {
    const found = await Promise.all(checks.map(async ([name, check]) => [name, await check()] as const))
    const current = phase()
    const results = [['server', resultFor(current === 'running' ? null : current)] as const, ...found]
    const statuses = results.map(([, { status }]) => status)
    const worst = (['unhealthy', 'degraded'] as const).find((status) => statuses.includes(status))
    return { status: worst ?? ('healthy' as const), checks: Object.fromEntries(results) }
  }
}

/** No live chain pauses this long between two blocks. */
const OLD_HEAD_MS = 1_800_000

/** Whether a node answers for our chain and follows it by this machine's clock, and none is set aside. */
function inspectChain(rpc: Pick<Rpc, 'send' | 'faults'>, chainId: number): Inspection {
  return async () => {
    try {
      const [id, latest] = await rpc.send([{ method: 'eth_chainId', params: [] }, blockCall('latest')])
      if (resultOf(id, quantitySchema) !== BigInt(chainId)) return 'other-chain'
      const { timestamp } = resultOf(latest, blockSchema)
      if (Date.now() - timestamp * 1_000 > OLD_HEAD_MS) return 'head-old'
      return rpc.faults().every((fault) => fault === null) ? null : 'node-set-aside'
    } catch (error) {
      if (!isChainFailure(error)) throw error
      return rpc.faults().includes('other-chain') ? 'other-chain' : 'no-node-answers'
    }
  }
}

/** Whether there is code at each of the five addresses. */
function inspectContracts(rpc: Pick<Rpc, 'send'>, contracts: ContractAddresses): Inspection {
  return async () => {
    const found = await Promise.all(Object.values(contracts).map((address) => hasCode(rpc, address)))
    return found.includes(false) ? 'contract-missing' : null
  }
}

/** Whether this user may read the enclave's program, and this user alone its configuration. Opens neither of them. */
export function inspectEnclave({ program, envFile }: { program: string; envFile: string }): Inspection {
  return async () => {
    if ((await stateOfPrivateFile(program)) === 'unreadable') return 'enclave-program-missing'
    const state = await stateOfPrivateFile(envFile)
    return state === 'private' ? null : `enclave-configuration-${state}`
  }
}

/**
 * Whether a living server serves each of the leases, on this server's database. After a server has died, its lease is free
 * for seconds.
 */
export function inspectLeases(leases: Pick<Leases, 'list'>, names: readonly string[]): Inspection {
  return async () => {
    try {
      const served = await servedLeases(leases)
      return names.every((name) => served.some(({ lease }) => lease === name)) ? null : 'lease-not-served'
    } catch (error) {
      // The check of the store has the reason.
      if (error instanceof StorageError) return null
      throw error
    }
  }
}

/** Longer than a node takes to restart. */
const SILENCE_MS = 30_000

/** Whether this server, if it runs the orders, still reads the escrow's events: without them no order runs. */
export function inspectOrders(backlog: EnclaveRuns['backlog']): Inspection {
  return async () => ((backlog().silentMs ?? 0) > SILENCE_MS ? 'orders-unread' : null)
}

/** Whether this server's narrator, if it has one, still polls the chain and has narrated every event. */
export function inspectNarrator(progress: NarratorProgress): Inspection {
  return async () => {
    if (!progress.isNarrating) return null
    // The narrator waits for the reader of its lines before it polls the chain again.
    if (performance.now() - progress.atMs > SILENCE_MS)
      return progress.isPrinting ? 'narration-unread' : 'narration-stalled'
    return (progress.last?.lag ?? 0) > 0 ? 'narration-behind' : null
  }
}

/** The share of the day's gas below which the check reports it, as a divisor. */
const LOW_GAS_DIVISOR = 10n
/** A balance is low below the floor times this. */
const LOW_BALANCE_FACTOR = 2n

/** Inspects the account that pays the gas, and remembers its balance for the metrics. */
export type RelayerView = ReturnType<typeof createRelayerView>

export function createRelayerView(
  health: () => Promise<RelayHealth>,
  gas: Pick<GasLimits, 'perDay' | 'reserve'>,
) {
  let account: RelayHealth['account'] | undefined
  return {
    /** The account that the last inspection found; undefined when it could not. */
    account: () => account,
    async inspect(): Promise<CheckReason | null> {
      const current = health()
      account = await current.then((found) => found.account).catch(() => undefined)
      return faultOf(await current, gas)
    },
  }
}

function faultOf(
  { account, minBalance, gasRemaining, reserveRemaining, isKeyShared }: RelayHealth,
  { perDay, reserve }: Pick<GasLimits, 'perDay' | 'reserve'>,
): CheckReason | null {
  if (!account.isFunded) return 'relayer-underfunded'
  // No order can be relayed with less.
  if (reserveRemaining < LEAST_GAS) return 'gas-reserve-used-up'
  if (gasRemaining < LEAST_GAS) return 'gas-budget-used-up'
  if (isKeyShared) return 'key-used-elsewhere'
  if (account.balance < minBalance * LOW_BALANCE_FACTOR) return 'balance-low'
  return gasRemaining < (perDay - reserve) / LOW_GAS_DIVISOR ? 'gas-budget-low' : null
}

/** Inspects the store, and remembers its standbys for the metrics. */
export type StoreView = ReturnType<typeof createStoreView>

/** Whether the store accepts a write, in the same way as every record, and keeps it through a crash. */
export function createStoreView(
  document: Pick<StateDocument<number>, 'save'>,
  engine: Pick<Engine, 'durability'>,
) {
  let standbys: number | undefined
  return {
    /** The synchronous standbys at the last inspection; undefined where it found no answer, or the engine has none. */
    standbys: () => standbys,
    async inspect() {
      try {
        standbys = undefined
        const durability = await engine.durability?.()
        standbys = durability?.standbys
        // First, because a write without a standby outlasts the check's time limit.
        if (durability?.waitsForStandby === true && standbys === 0) return 'standby-missing'
        await document.save(Date.now())
        // A start refuses such a database. Its settings may change later, or a failover may replace it.
        return durability?.fault == null ? null : 'store-not-durable'
      } catch (error) {
        if (error instanceof StorageError) return 'store-not-writable'
        throw error
      }
    },
  }
}
