import { createOrderPlan, type PlannedEvent, type PlannedOrder, type PlannedReorg } from '../orders/plan.js'
import { createPlan, type Plan } from '../support/plan.js'
import { createRandom, type Random } from '../support/random.js'

/** What goes wrong with the servers, with their connections to the database, and with the database. */
export const CLUSTER_FAULTS = [
  /** SIGKILL, and SIGSTOP for 0.3 to 4 times the lease's length. */
  'killed',
  'paused',
  /** Nothing travels between one server and the database; then its connections end. */
  'partitioned',
  /** Its connections end at once. */
  'cut',
  /** Its statements are carried out, and their answers are lost. */
  'answers-lost',
  'delayed',
  /** The database crashes and comes back; takes no writes; has no room; its standby takes its place. */
  'database-killed',
  'database-read-only',
  'database-full',
  'failed-over',
] as const
export type ClusterFault = (typeof CLUSTER_FAULTS)[number]

/** Statements, before and after which a server is killed or stopped. */
export const STATEMENTS = [
  'take',
  'renew',
  'write-orders',
  'write-relays',
  'write-runs',
  'write-state',
  'write-cursor',
] as const
export const STEPS = STATEMENTS.flatMap((statement) => [`before-${statement}`, `after-${statement}`] as const)
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
  readonly orders: readonly (Timed & { readonly order: PlannedOrder })[]
  readonly faults: readonly PlannedFault[]
  readonly stops: readonly PlannedStop[]
  /** Their times are from the beginning of the storm, too. */
  readonly world: readonly PlannedEvent[]
  readonly reorgs: readonly PlannedReorg[]
  readonly nodes: Pick<Plan, 'reads' | 'sends' | 'spells'>
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
  readonly world: number
  readonly reorgs: number
  /** Rounds of every fault of a node. */
  readonly nodes: number
}

const LEAST_PAUSE = 0.3
const MOST_PAUSE = 4

/** The same for the same arguments, always. */
export function createClusterPlan(size: ClusterPlanSize): ClusterPlan {
  const { seed, lengthMs, leaseTtlMs } = size
  const random = createRandom(seed)
  const at = () => random.integer(0, lengthMs)
  const pauseMs = () => random.integer(LEAST_PAUSE * leaseTtlMs, MOST_PAUSE * leaseTtlMs)
  const others = createOrderPlan({
    seed,
    orders: size.orders,
    kills: 1,
    faults: { store: 0, deaths: 0, stops: 0, world: size.world, reorgs: size.reorgs },
  })
  const lives = [...others.lives.flatMap(({ orders }) => orders), ...others.last]
  const { reads, sends, spells } = createPlan({
    seed,
    authorizations: 0,
    kills: 0,
    rounds: { reads: size.nodes, sends: size.nodes, spells: size.nodes, chain: 0 },
    calmness: 3,
  })
  return {
    seed,
    lengthMs,
    orders: lives.map((order, index) => ({
      order,
      atMs: Math.floor((index * lengthMs) / Math.max(1, lives.length)),
    })),
    faults: deal(random, CLUSTER_FAULTS, size.faults).map((kind) => ({
      kind,
      atMs: at(),
      forMs: kind === 'paused' ? pauseMs() : random.integer(300, 1.5 * leaseTtlMs),
      target: random.chance(0.5) ? random.pick(LEASES) : random.integer(0, SERVERS - 1),
      amount: random.integer(20, 400),
    })),
    stops: deal(random, STEPS, size.stops).map((step) => ({
      step,
      atMs: at(),
      stopMs: random.chance(0.5) ? 0 : pauseMs(),
    })),
    world: others.lives.flatMap(({ world }) => world).map((event) => ({ ...event, afterMs: at() })),
    reorgs: others.lives.flatMap(({ reorgs }) => reorgs).map((reorg) => ({ ...reorg, afterMs: at() })),
    // A node that says it is of another chain has said so to one of the servers only.
    nodes: { reads, sends, spells: spells.filter(({ kind }) => kind !== 'other-chain') },
  }
}

/** So many: every kind once, in a chance order, then every kind once more. */
function deal<T>(random: Random, kinds: readonly T[], count: number): T[] {
  const rounds = Math.ceil(count / kinds.length)
  return Array.from({ length: rounds }, () => random.shuffled(kinds))
    .flat()
    .slice(0, count)
}
