import {
  CHAIN_FAULTS,
  type ChainFault,
  KILLS,
  type KillKind,
  READ_FAULTS,
  type ReadFault,
  type Reset,
  SEND_FAULTS,
  type SendFault,
  SPELLS,
  type Spell,
} from './kinds.js'
import { createRandom, type Random } from './random.js'

/** One fault: after how many occasions that pass unharmed, and for how many in a row. */
export interface PlannedFault<Kind> {
  readonly kind: Kind
  readonly after: number
  readonly times: number
  /** Milliseconds, blocks, nonces, gwei: what the kind is measured in. */
  readonly amount: number
}

/**
 * Who posts an authorization. One insists until it hears the end, one posts until it is taken and then only asks,
 * one hangs up and never comes back.
 */
export interface PlannedCaller {
  readonly manner: 'insists' | 'trusts' | 'leaves'
  readonly afterMs: number
  readonly patienceMs: number
}

/**
 * `update` and `mint` have nothing to do with any other. Two `rivals` of one subject exclude each other; a `foreign`
 * one is taken to the chain by somebody else, too.
 */
export interface PlannedAuthorization {
  readonly kind: 'update' | 'mint' | 'rival' | 'foreign'
  readonly subject: number
  readonly callers: readonly PlannedCaller[]
}

/** What ends a life of the server. */
export interface PlannedKill {
  readonly kind: KillKind
  /** For a step: at which one of its kind. */
  readonly nth: number
  /** For a time. */
  readonly afterMs: number
}

/** One life of the server: what is posted at its start, and what ends it. */
export interface PlannedLife {
  /** The nodes that the server knows, in its order of preference. */
  readonly nodes: readonly number[]
  readonly authorizations: readonly PlannedAuthorization[]
  readonly kill: PlannedKill
}

/** Everything that is up to chance. */
export interface Plan {
  readonly seed: number
  readonly reads: readonly PlannedFault<ReadFault>[]
  readonly sends: readonly PlannedFault<SendFault>[]
  readonly spells: readonly PlannedFault<Spell>[]
  readonly chain: readonly PlannedFault<ChainFault>[]
  readonly resets: readonly Reset[]
  readonly lives: readonly PlannedLife[]
  /** The last life, which nobody ends. */
  readonly last: Omit<PlannedLife, 'kill'>
  /** What is posted when all else has ended, above a nonce that is opened again. */
  readonly aboveGap: readonly PlannedAuthorization[]
}

export interface PlanSize {
  readonly seed: number
  readonly authorizations: number
  readonly kills: number
  /** How often each kind of fault is planned. */
  readonly rounds: {
    readonly reads: number
    readonly sends: number
    readonly spells: number
    readonly chain: number
  }
  /** The larger, the more passes unharmed between two faults. */
  readonly calmness: number
  readonly resets?: readonly Reset[]
}

/** All of one chain. */
export const NODES = 3
const ABOVE_GAP = 2

/** The same for the same arguments, always. */
export function createPlan(size: PlanSize): Plan {
  const { seed, authorizations, kills, rounds, calmness } = size
  const random = createRandom(seed)
  const kinds = random.deal(KILLS, kills)
  const work = planWork(random, authorizations)
  const share = Math.floor(work.length / (kills + 1))
  return {
    seed,
    resets: size.resets ?? [],
    reads: random
      .deal(READ_FAULTS, rounds.reads * READ_FAULTS.length)
      .map((kind) => planRead(random, kind, calmness)),
    sends: random
      .deal(SEND_FAULTS, rounds.sends * SEND_FAULTS.length)
      .map((kind) => planSend(random, kind, calmness)),
    spells: random
      .deal(SPELLS, rounds.spells * SPELLS.length)
      .map((kind) => planSpell(random, kind, calmness)),
    chain: random
      .deal(CHAIN_FAULTS, rounds.chain * CHAIN_FAULTS.length)
      .map((kind) => planChain(random, kind, calmness)),
    lives: kinds.map((kind, life) => ({
      nodes: planNodes(random, 1),
      authorizations: work.slice(life * share, (life + 1) * share),
      kill: planKill(random, kind, share),
    })),
    last: { nodes: planNodes(random, NODES), authorizations: work.slice(kills * share, -ABOVE_GAP) },
    aboveGap: work.slice(-ABOVE_GAP),
  }
}

/** Some of them, in a chance order. */
function planNodes(random: Random, least: number): number[] {
  const all = Array.from({ length: NODES }, (_, node) => node)
  return random.shuffled(all).slice(0, random.integer(least, NODES))
}

function planRead(random: Random, kind: ReadFault, calmness: number): PlannedFault<ReadFault> {
  const amount = kind === 'late' ? random.integer(50, 1_500) : random.integer(1, 5)
  return { kind, after: random.integer(1, 6 * calmness), times: random.integer(1, 2), amount }
}

function planSend(random: Random, kind: SendFault, calmness: number): PlannedFault<SendFault> {
  const after = random.integer(0, calmness)
  const times = kind === 'unwanted' ? 1 : random.integer(1, 2)
  return { kind, after, times, amount: random.integer(100, 2_000) }
}

function planSpell(random: Random, kind: Spell, calmness: number): PlannedFault<Spell> {
  return { kind, after: random.integer(1, 10 * calmness), times: 1, amount: random.integer(1, 15) }
}

function planChain(random: Random, kind: ChainFault, calmness: number): PlannedFault<ChainFault> {
  const amount = kind === 'base-fee' ? random.integer(20, 100) : random.integer(1, 4)
  return { kind, after: random.integer(2, 4 + 2 * calmness), times: 1, amount }
}

function planKill(random: Random, kind: KillKind, authorizations: number): PlannedKill {
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
