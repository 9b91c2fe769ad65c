import { createRandom } from '../engine/random.js'
import { type NodeFaults, planNodeFaults } from '../nodes/plan.js'
import {
  createOrderPlan,
  type PlannedAct,
  type PlannedEvent,
  type PlannedOrder,
  type PlannedReorg,
} from '../orders/plan.js'
import { INNER_STEPS } from '../relay/plan.js'

/** Faults of the servers, of their connections, and of the database. */
export const CLUSTER_FAULTS = [
  /** SIGKILL, and SIGSTOP for 0.3 to 4 times the lease's length. */
  'killed',
  'paused',
  /** SIGTERM, as in a rolling upgrade. */
  'stopped',
  /** A link's connections are half-open: nothing travels in them, and later they end. */
  'partitioned',
  /** They end at once. */
  'cut',
  /** The server's requests are carried out, and the answers are lost. */
  'answers-lost',
  'delayed',
  /** The database crashes and comes back; takes no writes; has no room; its standby takes its place. */
  'database-killed',
  'database-read-only',
  'database-full',
  'failed-over',
] as const
export type ClusterFault = (typeof CLUSTER_FAULTS)[number]

/**
 * Connections with a proxy in them: a server's to the database and to the enclave, the balancers' to its port for clients and to its port
 * for the enclave, the enclave's to the balancer.
 */
export const LINKS = ['database', 'enclave', 'balancer', 'relay', 'home'] as const
export type Link = (typeof LINKS)[number]

/** Statements and a request, before and after which a server is killed or stopped. */
export const STATEMENTS = [
  'take',
  'renew',
  'release',
  'first-read',
  'offer',
  'write-orders',
  'write-relays',
  'write-runs',
  'write-state',
  'write-cursor',
  'transact',
] as const
export const STEPS = [
  ...STATEMENTS.flatMap((statement) => [`before-${statement}`, `after-${statement}`] as const),
  // Steps of one transaction of a relayer, as in the relay's storm.
  ...INNER_STEPS,
]
export type Step = (typeof STEPS)[number]

export const LEASES = ['narrator', 'trigger', 'relayer'] as const
export type LeaseKind = (typeof LEASES)[number]
export const SERVERS = 3

interface Timed {
  /** From the beginning of the storm. */
  readonly atMs: number
}

export interface PlannedFault extends Timed {
  readonly kind: ClusterFault
  /** For what begins and ends. */
  readonly forMs: number
  /** A server by its number, or the one that holds a lease. */
  readonly target: number | LeaseKind
  /** For what is done to connections. */
  readonly link: Link
  /** For `delayed`: milliseconds. */
  readonly amount: number
}

/** The first server that reaches the step from then on is killed there, or stands still for a while. */
export interface PlannedStop extends Timed {
  readonly step: Step
  /** 0: it is killed. */
  readonly stopMs: number
}

/** Everything that is up to chance. */
export interface ClusterPlan {
  readonly seed: number
  readonly lengthMs: number
  /** Failovers are to an asynchronous standby, and lose what was committed last. */
  readonly isAsynchronous: boolean
  readonly orders: readonly (Timed & { readonly order: PlannedOrder })[]
  readonly faults: readonly PlannedFault[]
  readonly stops: readonly PlannedStop[]
  /** Kills and stops of the enclave at the steps of its runs. */
  readonly acts: readonly (Timed & { readonly act: PlannedAct })[]
  /** When the enclave is replaced by one that knows nothing of its runs. */
  readonly replacements: readonly Timed[]
  /** Their times are from the beginning of the storm, too. */
  readonly world: readonly PlannedEvent[]
  readonly reorgs: readonly PlannedReorg[]
  readonly nodes: NodeFaults
}

export interface ClusterPlanSize {
  readonly seed: number
  readonly lengthMs: number
  readonly orders: number
  /** Milliseconds for which a lease lives. */
  readonly leaseTtlMs: number
  /** How many of each sort: all of its kinds take their turns. */
  readonly faults: number
  readonly stops: number
  /** Deaths and pauses of the enclave, so many of each. */
  readonly acts: number
  readonly replacements: number
  readonly world: number
  readonly reorgs: number
  /** Rounds of every fault of a node and of the chain, and how much passes unharmed between two of them. */
  readonly nodes: number
  readonly calmness: number
  readonly isAsynchronous?: boolean
}

const LEAST_PAUSE = 0.3
const MOST_PAUSE = 4
/** The share of the storm in which orders are placed: the last ones are to be carried out in it, too. */
const PLACED_BY = 0.8

/** The same for the same arguments, always. */
export function createClusterPlan(size: ClusterPlanSize): ClusterPlan {
  const { seed, lengthMs, leaseTtlMs, isAsynchronous = false } = size
  const random = createRandom(seed)
  const at = () => random.integer(0, lengthMs)
  const pauseMs = () => random.integer(LEAST_PAUSE * leaseTtlMs, MOST_PAUSE * leaseTtlMs)
  const others = createOrderPlan({
    seed,
    orders: size.orders,
    kills: 1,
    faults: { store: 0, deaths: size.acts, stops: size.acts, world: size.world, reorgs: size.reorgs },
  })
  const lives = [...others.lives.flatMap(({ orders }) => orders), ...others.last]
  const { chain, ...nodes } = planNodeFaults(createRandom(seed), {
    rounds: { reads: size.nodes, sends: size.nodes, spells: size.nodes, chain: size.nodes },
    calmness: size.calmness,
  })
  return {
    seed,
    lengthMs,
    isAsynchronous,
    orders: lives.map((order, index) => ({
      order,
      atMs: Math.floor((PLACED_BY * index * lengthMs) / Math.max(1, lives.length)),
    })),
    faults: random.deal(CLUSTER_FAULTS, size.faults).map((kind) => ({
      kind,
      atMs: at(),
      forMs: kind === 'paused' ? pauseMs() : random.integer(300, 1.5 * leaseTtlMs),
      target: random.chance(0.5) ? random.pick(LEASES) : random.integer(0, SERVERS - 1),
      link: random.chance(0.5) ? 'database' : random.pick(LINKS),
      amount: random.integer(20, 400),
    })),
    stops: random.deal(STEPS, size.stops).map((step) => ({
      step,
      atMs: at(),
      stopMs: random.chance(0.5) ? 0 : pauseMs(),
    })),
    acts: others.lives.flatMap(({ acts }) => acts).map((act) => ({ act, atMs: at() })),
    replacements: Array.from({ length: size.replacements }, () => ({ atMs: at() })),
    world: others.lives.flatMap(({ world }) => world).map((event) => ({ ...event, afterMs: at() })),
    reorgs: others.lives.flatMap(({ reorgs }) => reorgs).map((reorg) => ({ ...reorg, afterMs: at() })),
    // Reorganizations are the orders', whose transactions come back.
    nodes: { ...nodes, chain: chain.filter(({ kind }) => kind !== 'reorg') },
  }
}
