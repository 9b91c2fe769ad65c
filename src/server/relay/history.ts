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
  /** The hash of the block below it, where the node tells it. */
  readonly parentHash?: Hex | undefined
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
interface Seen extends Pick<Block, 'hash' | 'parentHash'> {
  /** Of `performance.now()`: when it was first. */
  readonly at: number
}

export function createSeenHeads(): SeenHeads {
  const seen = new Map<number, Seen>()
  let tip: number | undefined
  let behindSince: number | undefined
  let genesis: Hex | undefined
  /** Of the blocks that were seen before the last reorganization: it changes blocks, and not how fast they come. */
  let earlierBlockMs: number | undefined

  function remember({ number, hash, parentHash }: Block): void {
    tip = number
    if (seen.get(number)?.hash !== hash) seen.set(number, { hash, parentHash, at: performance.now() })
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
    const expected = seen.get(head.number)?.hash ?? seen.get(head.number + 1)?.parentHash
    if (expected !== undefined) return expected === head.hash
    const number = [...seen.keys()].findLast((each) => each < head.number)
    return number !== undefined && seen.get(number)?.hash === (await hashAt(number))
  }

  /** Mean time between blocks. One head tells nothing of it. */
  function blockMs(): number | undefined {
    const heads = [...seen]
    const [first, last] = [heads.at(0), heads.at(-1)]
    if (first === undefined || last === undefined || first === last) return earlierBlockMs
    return (last[1].at - first[1].at) / (last[0] - first[0])
  }

  /** Time that the chain takes for {@link LAG_BLOCKS}, by the blocks that were seen. */
  function patienceMs(): number {
    return Math.min(Math.max(LAG_BLOCKS * (blockMs() ?? 0), LEAST_LAG_MS), MOST_LAG_MS)
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
      if (history !== 'kept') {
        earlierBlockMs = history === 'reorganized' ? blockMs() : undefined
        seen.clear()
      }
      if (history !== 'kept' || head.number >= (tip ?? 0)) remember(head)
      return history
    },
  }
}
