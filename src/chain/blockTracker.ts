// The one answer to "is this still the same chain?". Every reader of the chain compares the blocks that it knows with those that
// a node has now.
import type { Hex } from '../protocol/hex.js'
import type { BlockId } from './logReader.js'

/** How a block that a node has now fits one that was read before. */
type Fit =
  /** It is that block, or lies above it. */
  | 'kept'
  /** It lies below, or the node has none: the node is behind, or the chain lost its end. */
  | 'behind'
  /** Another block has replaced that block. */
  | 'replaced'

/** Blocks below the head at which a block counts as final: two epochs of Ethereum. No reorganization is expected to reach deeper. */
export const FINAL_DEPTH = 64

interface Numbered {
  readonly number: number
  readonly hash: string
}

/** @param now null where the node does not have the block */
export function fitOf(known: Numbered, now: Numbered | null): Fit {
  if (now === null) return 'behind'
  if (now.number !== known.number) return now.number > known.number ? 'kept' : 'behind'
  return now.hash === known.hash ? 'kept' : 'replaced'
}

/**
 * How a poll relates to the earlier ones.
 * - `kept`: it continues them
 * - `behind`: its head is lower; the node may be behind, or the chain was rolled back
 * - `reorganized`: another branch replaced blocks
 * - `reset`: it is another chain, or one that lost its end
 */
export type History = 'kept' | 'behind' | 'reorganized' | 'reset'

/** A history that did not simply continue. */
export type Break = Extract<History, 'reorganized' | 'reset'>

/** The fields of a block that count here. */
interface Block extends BlockId {
  /** The hash of the block below it, where the node gives it. */
  readonly parentHash?: Hex | undefined
}

/** The head of an earlier poll, and the block that is there now. Another poll may have come in between. */
interface Known {
  readonly number: number
  readonly now: Block | null
}

/** A head that stays below an earlier one for this long belongs to a chain that was reset, unless its blocks were seen before. */
const UNKNOWN_BLOCKS_MS = 2_000
/** A node whose blocks were seen before may trail for this long: five blocks of Ethereum. */
const TRAILING_MS = 60_000
/** Blocks whose hashes are kept. */
const MEMORY = 128

/** Remembers the blocks that were seen as heads. */
export function createBlockTracker({ trailingMs = TRAILING_MS }: { trailingMs?: number | undefined } = {}) {
  const seen = new Map<number, Block>()
  let tip: number | undefined
  let behindSince: number | undefined
  let genesis: Hex | undefined

  function remember(block: Block): void {
    tip = block.number
    seen.set(block.number, block)
    for (const old of seen.keys()) if (seen.size > MEMORY || old > block.number) seen.delete(old)
  }

  function historyOf(head: Block, known: Known | undefined): History {
    if (known === undefined) return 'kept'
    const isBelow = head.number < known.number
    const before = seen.get(isBelow ? head.number : known.number)
    const now = isBelow ? head : known.now
    // A node that has the head, and no block where an earlier head was, has another history.
    if (before !== undefined && fitOf(before, now) !== 'kept') return 'reorganized'
    return isBelow ? 'behind' : 'kept'
  }

  /** Judged by the head, or by the last seen block below it. */
  async function isOnSeenChain(head: Block, hashAt: (number: number) => Promise<Hex>): Promise<boolean> {
    const expected = seen.get(head.number)?.hash ?? seen.get(head.number + 1)?.parentHash
    if (expected !== undefined) return expected === head.hash
    const number = [...seen.keys()].findLast((each) => each < head.number)
    return number !== undefined && seen.get(number)?.hash === (await hashAt(number))
  }

  async function isStillBehind(head: Block, hashAt: (number: number) => Promise<Hex>): Promise<boolean> {
    behindSince ??= performance.now()
    const lagMs = performance.now() - behindSince
    return lagMs < UNKNOWN_BLOCKS_MS || (lagMs < trailingMs && (await isOnSeenChain(head, hashAt)))
  }

  return {
    /** The number of the last head. */
    tip: (): number | undefined => tip,
    /**
     * @param hashAt asks for the hash of a block that is there, when blocks were replaced or the head is below an earlier one
     */
    async next(
      head: Block,
      known: Known | undefined,
      hashAt: (number: number) => Promise<Hex>,
    ): Promise<History> {
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
