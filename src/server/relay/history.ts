import type { Hex } from '../../protocol/hex.js'

/**
 * How a look fits what was seen before: it goes on from there; the node is behind (or the chain was rolled back:
 * nobody can tell yet); another branch took the place of blocks; or it is another chain, or one that lost its end.
 */
export type History = 'kept' | 'behind' | 'reorganized' | 'reset'

/** A history that did not just go on. */
export type Break = Extract<History, 'reorganized' | 'reset'>

/** A block as far as it counts here. */
export interface Block {
  readonly number: number
  readonly hash: Hex
}

/** The head of an earlier look, and what is there now. Another look may have come in between. */
export interface Known {
  readonly number: number
  readonly now: Block | null
}

/** Remembers the blocks that were seen as heads. */
export interface SeenHeads {
  /** The number of the last one. */
  tip(): number | undefined
  /** @param hashAt asks for the hash of a block that is there, when blocks were exchanged or the head is below what was seen */
  next(head: Block, known: Known | undefined, hashAt: (number: number) => Promise<Hex>): Promise<History>
}

/** A node may trail the others for so long; a head that stays below what was seen is a chain that was reset. */
const LEAST_LAG_MS = 2_000
/** A node whose blocks are those that were seen may trail for as long as the chain takes for so many of them. */
const LAG_BLOCKS = 4
const MOST_LAG_MS = 60_000
/** Blocks whose hashes are kept. */
const MEMORY = 128

/** A block that was seen as the head. */
interface Seen {
  readonly hash: Hex
  /** Of `performance.now()`: when it was first. */
  readonly at: number
}

export function createSeenHeads(): SeenHeads {
  const seen = new Map<number, Seen>()
  let tip: number | undefined
  let behindSince: number | undefined
  let genesis: Hex | undefined

  function remember({ number, hash }: Block): void {
    tip = number
    if (seen.get(number)?.hash !== hash) seen.set(number, { hash, at: performance.now() })
    for (const old of seen.keys()) if (seen.size > MEMORY || old > number) seen.delete(old)
  }

  function historyOf(head: Block, known: Known | undefined): History {
    if (known === undefined) return 'kept'
    const before = seen.get(Math.min(head.number, known.number))
    if (head.number >= known.number) {
      return before === undefined || known.now?.hash === before.hash ? 'kept' : 'reorganized'
    }
    return before === undefined || before.hash === head.hash ? 'behind' : 'reorganized'
  }

  /** As far as can be told: by the head, or by the block below it that was seen last. */
  async function isOnSeenChain(head: Block, hashAt: (number: number) => Promise<Hex>): Promise<boolean> {
    const number = [...seen.keys()].findLast((each) => each <= head.number)
    if (number === undefined) return false
    return seen.get(number)?.hash === (number === head.number ? head.hash : await hashAt(number))
  }

  /** Time that the chain takes for {@link LAG_BLOCKS}, by the blocks that were seen. */
  function patienceMs(): number {
    const heads = [...seen]
    const [first, last] = [heads.at(0), heads.at(-1)]
    // One head tells nothing of the chain's pace.
    if (first === undefined || last === undefined || first === last) return LEAST_LAG_MS
    const blockMs = (last[1].at - first[1].at) / (last[0] - first[0])
    return Math.min(Math.max(LAG_BLOCKS * blockMs, LEAST_LAG_MS), MOST_LAG_MS)
  }

  async function isStillBehind(head: Block, hashAt: (number: number) => Promise<Hex>): Promise<boolean> {
    behindSince ??= performance.now()
    const lagMs = performance.now() - behindSince
    return lagMs < LEAST_LAG_MS || (lagMs < patienceMs() && (await isOnSeenChain(head, hashAt)))
  }

  return {
    tip: () => tip,
    async next(head, known, hashAt) {
      let history = historyOf(head, known)
      if (history === 'behind') {
        if (await isStillBehind(head, hashAt)) return history
        history = 'reset'
      }
      if (genesis === undefined || history === 'reorganized') {
        const found = await hashAt(0)
        if (genesis !== undefined && found !== genesis) history = 'reset'
        genesis = found
      }
      behindSince = undefined
      if (history !== 'kept') seen.clear()
      if (history !== 'kept' || head.number >= (tip ?? 0)) remember(head)
      return history
    },
  }
}
