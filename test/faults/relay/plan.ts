import { type PlannedKill, TIMED_KILLS } from '../engine/lives.js'
import { createRandom, type Random } from '../engine/random.js'
import { NODES, type NodeFaults, type NodeFaultsSize, planNodeFaults } from '../nodes/plan.js'

/** Steps of one transaction at which the server kills itself: see `steppedSender.mjs`. */
export const INNER_STEPS = ['nonce-chosen', 'signed', 'saved', 'sent', 'seen'] as const
/** Moments seen from outside: the node has taken a transaction and not answered yet; it has mined one. */
const OUTER_STEPS = ['accepted', 'mined'] as const
export const KILLS = [...INNER_STEPS, ...OUTER_STEPS, ...TIMED_KILLS] as const
/** `ended`: once that many callers have learned the end of their authorization. No plan draws it. */
export type KillKind = (typeof KILLS)[number] | 'ended'

/** The chain begins anew: between the last two lives, or in the last one, after all other faults. */
export type Reset = 'down' | 'up'

/**
 * One client with an authorization. One insists until it hears the end, one posts until it is accepted and then only asks,
 * one hangs up and never comes back.
 */
export interface PlannedCaller {
  readonly manner: 'insists' | 'trusts' | 'leaves'
  readonly afterMs: number
  readonly patienceMs: number
}

/**
 * `update` and `mint` have nothing to do with any other. Two `rivals` of one subject exclude each other; another account
 * takes a `foreign` one to the chain, too.
 */
export interface PlannedAuthorization {
  readonly kind: 'update' | 'mint' | 'rival' | 'foreign'
  readonly subject: number
  readonly callers: readonly PlannedCaller[]
}

/** One life of the server: its nodes, the authorizations posted at its start, and the kill that ends it. */
export interface PlannedLife {
  /** The nodes that the server knows, in its order of preference. */
  readonly nodes: readonly number[]
  readonly authorizations: readonly PlannedAuthorization[]
  readonly kill: PlannedKill<KillKind>
}

/** Everything that is up to chance. */
export interface RelayPlan extends NodeFaults {
  readonly seed: number
  readonly resets: readonly Reset[]
  readonly lives: readonly PlannedLife[]
  /** The last life, which no kill ends. */
  readonly last: Omit<PlannedLife, 'kill'>
  /** Posted when all else has ended, above a nonce that is opened again. */
  readonly aboveGap: readonly PlannedAuthorization[]
}

export interface RelayPlanSize extends NodeFaultsSize {
  readonly seed: number
  readonly authorizations: number
  readonly kills: number
  readonly resets?: readonly Reset[]
}

const ABOVE_GAP = 2

/** Draws a plan. The same arguments always give the same one. */
export function createRelayPlan(size: RelayPlanSize): RelayPlan {
  const { seed, authorizations, kills, resets = [] } = size
  const random = createRandom(seed)
  const kinds = random.deal(KILLS, kills)
  const work = planWork(random, authorizations)
  const share = Math.floor(work.length / (kills + 1))
  return {
    seed,
    resets,
    ...planNodeFaults(random, size),
    lives: kinds.map((kind, life) => ({
      nodes: planNodes(random, 1),
      authorizations: work.slice(life * share, (life + 1) * share),
      kill: planKill(random, kind, share),
    })),
    last: { nodes: planNodes(random, NODES), authorizations: work.slice(kills * share, -ABOVE_GAP) },
    aboveGap: work.slice(-ABOVE_GAP),
  }
}

/** Some of them, in a random order. */
function planNodes(random: Random, least: number): number[] {
  const all = Array.from({ length: NODES }, (_, node) => node)
  return random.shuffled(all).slice(0, random.integer(least, NODES))
}

function planKill(random: Random, kind: KillKind, authorizations: number): PlannedKill<KillKind> {
  const nth = random.integer(1, Math.max(1, Math.floor(authorizations / 2)))
  return { kind, nth, afterMs: kind === 'starting' ? random.integer(150, 700) : random.integer(50, 3_500) }
}

function planWork(random: Random, count: number): PlannedAuthorization[] {
  const work: PlannedAuthorization[] = []
  while (work.length < count) {
    const subject = work.length
    const kind = kindOf(random.integer(1, 100))
    const rivals = kind === 'rival' ? 2 : 1
    for (let i = 0; i < rivals; i++) work.push({ kind, subject, callers: planCallers(random) })
  }
  return work
}

function kindOf(percent: number): PlannedAuthorization['kind'] {
  if (percent <= 10) return 'mint'
  if (percent <= 14) return 'rival'
  return percent <= 18 ? 'foreign' : 'update'
}

/** At least one that gets it accepted. */
function planCallers(random: Random): PlannedCaller[] {
  const others = Array.from({ length: random.pick([0, 0, 0, 1, 1, 2, 3]) }, () =>
    planCaller(random, random.pick(['leaves', 'leaves', 'insists', 'trusts'])),
  )
  return [planCaller(random, random.pick(['insists', 'insists', 'trusts'])), ...others]
}

function planCaller(random: Random, manner: PlannedCaller['manner']): PlannedCaller {
  return {
    manner,
    afterMs: random.chance(0.5) ? 0 : random.integer(0, 800),
    patienceMs: manner === 'leaves' ? random.integer(5, 400) : random.integer(500, 3_000),
  }
}
