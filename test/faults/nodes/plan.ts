// Faults of nodes and of the chain: their kinds, and a plan of them.
import type { Random } from '../engine/random.js'

/** Faults of a node's answer to anything but a transaction. */
export const READ_FAULTS = [
  /** The connection is cut before the node hears of it. */
  'cut',
  /** The node hears of it; the connection is cut before its answer. */
  'lost',
  /** Passed on late, and answered late: it may be beyond the time-out. */
  'late',
  /** The connection stays open, and no byte comes back. */
  'half-open',
  /** The answer begins and never ends. */
  'half-answered',
  /** No JSON. */
  'garbage',
  /** JSON that ends too early. */
  'truncated',
  /** Each call is refused, with status 200. */
  'refused',
  /** Status 429. */
  'limited',
  /** Each answer is given twice. */
  'repeated',
  /** One answer is left out. */
  'missing',
  /** The answers in the opposite order, as JSON-RPC allows. */
  'reversed',
  /** `[]`. */
  'empty',
  /** Results of another type. */
  'wrong-type',
  /** A node that trails: everything as it was some blocks ago. */
  'stale',
  /** A node that has forgotten some transactions of the account. */
  'old-nonce',
] as const
export type ReadFault = (typeof READ_FAULTS)[number]

/** Faults of a transaction on its way to the node. */
export const SEND_FAULTS = [
  'cut',
  'lost',
  'late',
  'half-open',
  'refused',
  /** It reaches the node once more, later. */
  'twice',
  /** The node takes it, says so, and drops it (`anvil_dropTransaction`). */
  'forgotten',
  /** No node ever takes this one under its nonce. */
  'unwanted',
] as const
export type SendFault = (typeof SEND_FAULTS)[number]

/** Faults of one node for a while, at every request, while the others are well. */
export const SPELLS = [
  /** Every connection is cut. */
  'down',
  /** It is some blocks behind; it takes transactions. */
  'trails',
  /** It goes away, and comes back for another chain. */
  'other-chain',
  /** It answers each call with an error, but for the chain that it is of. */
  'broken',
] as const
export type Spell = (typeof SPELLS)[number]

/** Faults of the chain itself. */
export const CHAIN_FAULTS = [
  /** Blocks are taken back with their transactions (`anvil_reorg`). */
  'reorg',
  /** Some transaction of the account leaves the pool. */
  'dropped',
  /** The base fee rises far above what was offered. */
  'base-fee',
  /** The key is used elsewhere, under the next nonce of the pool. */
  'outside-next',
  /** The key is used elsewhere, in the place of a transaction that waits. */
  'outside-replaces',
] as const
export type ChainFault = (typeof CHAIN_FAULTS)[number]

/** One fault: after how many occasions that pass unharmed, and for how many in a row. */
export interface PlannedFault<Kind> {
  readonly kind: Kind
  readonly after: number
  readonly times: number
  /** Milliseconds, blocks, nonces or gwei, by its kind. */
  readonly amount: number
}

export interface NodeFaults {
  readonly reads: readonly PlannedFault<ReadFault>[]
  readonly sends: readonly PlannedFault<SendFault>[]
  readonly spells: readonly PlannedFault<Spell>[]
  readonly chain: readonly PlannedFault<ChainFault>[]
}

export interface NodeFaultsSize {
  /** How often each kind of fault is planned. */
  readonly rounds: Readonly<Record<keyof NodeFaults, number>>
  /** The larger, the more passes unharmed between two faults. */
  readonly calmness: number
}

/** Nodes of one chain, as one server knows them. */
export const NODES = 3

export function planNodeFaults(random: Random, { rounds, calmness }: NodeFaultsSize): NodeFaults {
  const { integer } = random

  function deal<Kind>(
    kinds: readonly Kind[],
    times: number,
    plan: (kind: Kind) => Omit<PlannedFault<Kind>, 'kind'>,
  ) {
    return random.deal(kinds, times * kinds.length).map((kind) => ({ kind, ...plan(kind) }))
  }

  return {
    reads: deal(READ_FAULTS, rounds.reads, (kind) => {
      const amount = kind === 'late' ? integer(50, 1_500) : integer(1, 5)
      return { after: integer(1, 6 * calmness), times: integer(1, 2), amount }
    }),
    sends: deal(SEND_FAULTS, rounds.sends, (kind) => {
      const after = integer(0, calmness)
      const times = kind === 'unwanted' ? 1 : integer(1, 2)
      return { after, times, amount: integer(100, 2_000) }
    }),
    spells: deal(SPELLS, rounds.spells, () => ({
      after: integer(1, 10 * calmness),
      times: 1,
      amount: integer(1, 15),
    })),
    chain: deal(CHAIN_FAULTS, rounds.chain, (kind) => {
      const amount = kind === 'base-fee' ? integer(20, 100) : integer(1, 4)
      return { after: integer(2, 4 + 2 * calmness), times: 1, amount }
    }),
  }
}
