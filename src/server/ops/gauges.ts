import { formatEther } from 'ethers'
import type { Rpc } from '../../chain/rpc.js'
import { createGauges, type Metrics } from '../metrics.js'
import type { NarratorProgress } from '../narrator/poll.js'
import type { AccountHealth, RelayLoad } from '../relay/account.js'
import type { GasLimits } from '../relay/gasBudget.js'
import type { EnclaveRuns } from '../trigger/enclaveRuns.js'
import type { CheckStatus, ReadinessReport } from './checks.js'

const MS_PER_SECOND = 1_000
const SEVERITY: Record<CheckStatus, number> = { healthy: 0, degraded: 1, unhealthy: 2 }

/** The sources of the gauges. */
interface GaugeSources {
  readonly metrics: Metrics
  readonly backlog: EnclaveRuns['backlog']
  readonly load: () => RelayLoad
  readonly rpc: Pick<Rpc, 'faults'>
  readonly progress: NarratorProgress
  readonly readiness: () => Promise<ReadinessReport>
  /** The relayer's, as the last look at the readiness found. */
  readonly account: () => AccountHealth | undefined
  /** Wei. */
  readonly minBalance: bigint
  readonly gas: Pick<GasLimits, 'perDay' | 'reserve'>
  /** As the last look at the readiness found. */
  readonly standbys: () => number | undefined
}

/** Adds every gauge that is read when the operator asks for the metrics. */
export function addGauges(sources: GaugeSources): void {
  addReadiness(sources)
  addBacklog(sources)
  addRelay(sources)
  addChain(sources)
}

function addReadiness({ metrics, readiness, account, minBalance, standbys }: GaugeSources): void {
  const { add, addEach } = createGauges(metrics)
  addEach(
    'check_status',
    'How each check of /readyz stands: 0 healthy, 1 degraded, 2 unhealthy.',
    'check',
    async () => {
      const { checks } = await readiness()
      return Object.entries(checks).map(([name, { status }]) => [name, SEVERITY[status]] as const)
    },
  )
  add(
    'relayer_balance_ether',
    "Balance of the relayer's account; absent while no node reports it.",
    async () => {
      // Shares the look of the check: one request to the node.
      await readiness()
      const relayer = account()
      return relayer && Number(formatEther(relayer.balance))
    },
  )
  add(
    'database_standbys',
    'Standbys that each commit waits for; absent for SQLite, and while PostgreSQL does not report them.',
    async () => {
      await readiness()
      return standbys()
    },
  )
  add('relayer_balance_floor_ether', 'Balance below which nothing is taken on (RELAY_MIN_BALANCE).', () =>
    Number(formatEther(minBalance)),
  )
}

function addBacklog({ metrics, backlog }: GaugeSources): void {
  const { add, addEach } = createGauges(metrics)
  add(
    'orders_watched',
    'Orders whose escrow is open, or whose end is not yet handled.',
    () => backlog().orders?.watched,
  )
  add(
    'orders_due',
    "Orders that wait for a run: no permit is free, or it is another order's turn.",
    () => backlog().orders?.due,
  )
  add('orders_longest_wait_seconds', 'How long the order that has been due for longest has waited.', () => {
    const { orders } = backlog()
    return orders && orders.longestWaitMs / MS_PER_SECOND
  })
  add('orders_unopened', 'Stored orders whose escrow has not been seen.', () => backlog().unopened)
  addEach(
    'policy_runs_waiting',
    'Rulebooks and resolutions that wait for a permit, by queue: signed by an admin or the owner, or unsigned.',
    'queue',
    () => {
      const { signed, unsigned } = backlog().waitingJobs
      return [
        ['signed', signed],
        ['unsigned', unsigned],
      ]
    },
  )
}

function addRelay({ metrics, load, gas }: GaugeSources): void {
  const { add, addEach } = createGauges(metrics)
  addEach(
    'relay_under_way',
    'Authorizations under way: queued (nothing sent yet), in_flight (sent, not deep enough).',
    'stage',
    () => {
      const { queued, inFlight } = load()
      return [
        ['queued', queued],
        ['in_flight', inFlight],
      ]
    },
  )
  add('relay_gas_left', "Gas that is left of today's budget (UTC), without the reserve.", () =>
    Number(load().gasLeft),
  )
  add('relay_gas_reserve_left', 'Gas that is left of the reserve for orders that are held.', () =>
    Number(load().reserveLeft),
  )
  add('relay_gas_per_day', 'Gas that may be used in one day (RELAY_DAILY_GAS).', () => Number(gas.perDay))
  add('relay_gas_reserve', 'Of it, kept for orders that are held: a fifth.', () => Number(gas.reserve))
}

function addChain({ metrics, rpc, progress }: GaugeSources): void {
  const { add, addEach } = createGauges(metrics)
  addEach(
    'rpc_node_up',
    '1 while a node (its place in RPC_URL, from 0) is in use, 0 while it is set aside.',
    'node',
    () => rpc.faults().map((fault, node) => [node, fault === null ? 1 : 0] as const),
  )
  const seen = (of: (look: NonNullable<ReturnType<NarratorProgress['last']>>) => number) => () => {
    const last = progress.last()
    return last === undefined ? undefined : of(last)
  }
  add(
    'narrator_block',
    'The last block whose events were narrated.',
    seen(({ block }) => block),
  )
  add(
    'narrator_lag_blocks',
    'Blocks that the last look should have narrated and has not.',
    seen(({ lag }) => lag),
  )
  add(
    'narrator_last_look_timestamp_seconds',
    'When the narrator last looked at the chain successfully, or else when it began (Unix time).',
    () => (progress.isNarrating() ? (Date.now() - progress.silentMs()) / MS_PER_SECOND : undefined),
  )
}
