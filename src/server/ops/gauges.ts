import { formatEther } from 'ethers'
import type { Rpc } from '../../chain/rpc.js'
import { highestShares } from '../limitUse.js'
import type { Metrics, WatchedGauge } from '../metrics.js'
import type { NarratorProgress } from '../narrator/poll.js'
import type { RelayLoad } from '../relay/account.js'
import type { GasLimits } from '../relay/gasBudget.js'
import type { EnclaveRuns } from '../trigger/enclaveRuns.js'
import type { CheckStatus, Readiness, RelayerView, StoreView } from './checks.js'

const MS_PER_SECOND = 1_000
const SEVERITY: Record<CheckStatus, number> = { healthy: 0, degraded: 1, unhealthy: 2 }

/** Adds every gauge that is read when the operator asks for the metrics. */
export function addGauges(
  metrics: Metrics,
  sources: {
    readonly readiness: Readiness
    readonly relayer: Pick<RelayerView, 'account'>
    readonly store: Pick<StoreView, 'standbys'>
    readonly backlog: EnclaveRuns['backlog']
    readonly load: () => RelayLoad
    readonly rpc: Pick<Rpc, 'faults'>
    readonly progress: NarratorProgress
    /** Wei. */
    readonly minBalance: bigint
    readonly gas: Pick<GasLimits, 'perDay' | 'reserve'>
  },
): void {
  const { readiness, relayer, store, backlog, load, rpc, progress, minBalance, gas } = sources
  const orders = () => backlog().orders
  const gauges: Record<string, WatchedGauge> = {
    check_status: [
      'How each check of /readyz stands: 0 healthy, 1 degraded, 2 unhealthy.',
      async () => {
        const { checks } = await readiness()
        return Object.entries(checks).map(([name, { status }]) => [name, SEVERITY[status]] as const)
      },
      'check',
    ],
    check_fault: [
      'Why checks of /readyz are not healthy, by reason: 1 degraded, 2 unhealthy.',
      async () => {
        const checks = Object.values((await readiness()).checks)
        return checks.flatMap(({ reason, status }) => (reason ? [[reason, SEVERITY[status]] as const] : []))
      },
      'reason',
    ],
    relayer_balance_ether: [
      "Balance of the relayer's account; absent while no node reports it.",
      async () => {
        // Shares the inspection of the check: one request to the node.
        await readiness()
        const account = relayer.account()
        return account && Number(formatEther(account.balance))
      },
    ],
    database_standbys: [
      'Standbys that each commit waits for; absent for SQLite, and while PostgreSQL does not report them.',
      async () => {
        await readiness()
        return store.standbys()
      },
    ],
    relayer_balance_floor_ether: [
      'Balance below which the relayer accepts no new work (RELAY_MIN_BALANCE).',
      () => Number(formatEther(minBalance)),
    ],
    orders_watched: [
      'Orders whose escrow is open, or whose end is not yet handled.',
      () => orders()?.watched,
    ],
    orders_due: [
      "Orders that wait for a run: no permit is free, or it is another order's turn.",
      () => orders()?.due,
    ],
    orders_longest_wait_seconds: [
      'How long the order that has been due for longest has waited.',
      () => {
        const longestMs = orders()?.longestWaitMs
        return longestMs && longestMs / MS_PER_SECOND
      },
    ],
    orders_unopened: ['Stored orders whose escrow has not been seen.', () => backlog().unopened],
    policy_runs_waiting: [
      'Rulebooks and resolutions that wait for a permit, by queue: signed by an admin or the owner, or unsigned.',
      () => Object.entries(backlog().waitingJobs),
      'queue',
    ],
    relay_under_way: [
      'Authorizations under way: queued (nothing sent yet), in_flight (sent, not deep enough).',
      () => Object.entries({ queued: load().queued, in_flight: load().inFlight }),
      'stage',
    ],
    relay_gas_remaining: [
      "Gas that remains of today's budget (UTC), without the reserve.",
      () => Number(load().gasRemaining),
    ],
    relay_gas_reserve_remaining: [
      'Gas that remains of the reserve for orders written ahead.',
      () => Number(load().reserveRemaining),
    ],
    relay_gas_per_day: ['Gas that may be used in one day (RELAY_DAILY_GAS).', () => Number(gas.perDay)],
    relay_gas_reserve: [
      'The part of it that is kept for orders written ahead: a fifth.',
      () => Number(gas.reserve),
    ],
    limit_highest_share: [
      'The highest share of a limit that this server, or one client, account or institution, has used since the start.',
      highestShares,
      'limit',
    ],
    rpc_node_up: [
      '1 while a node (its place in RPC_URL, from 0) is in use, 0 while it is set aside.',
      () => rpc.faults().map((fault, node) => [node, fault === null ? 1 : 0] as const),
      'node',
    ],
    narrator_block: ['The last block whose events were narrated.', () => progress.last?.block],
    narrator_lag_blocks: [
      'Blocks that the last poll should have narrated and has not.',
      () => progress.last?.lag,
    ],
    narrator_last_poll_timestamp_seconds: [
      'When the narrator last polled the chain successfully, or else when it began (Unix time).',
      () =>
        progress.isNarrating ? (Date.now() - (performance.now() - progress.atMs)) / MS_PER_SECOND : undefined,
    ],
  }
  for (const [name, gauge] of Object.entries(gauges)) metrics.watch(name, gauge)
}
