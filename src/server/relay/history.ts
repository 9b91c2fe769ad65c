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
  /** @param askGenesis for the hash of the first block, when blocks were exchanged */
  next(head: Block, known: Known | undefined, askGenesis: () => Promise<Hex>): Promise<History>
}

/** A node may trail the others for so long; a head that stays below what was seen is a chain that was reset. */
const HEAD_LAG_MS = 2_000
/** Blocks whose hashes are kept. */
const MEMORY = 128

export function createSeenHeads(): SeenHeads {
  const seen = new Map<number, Hex>()
  let tip: number | undefined
  let behindSince: number | undefined
  let genesis: Hex | undefined

  function remember({ number, hash }: Block): void {
    tip = number
    seen.set(number, hash)
    for (const old of seen.keys()) if (seen.size > MEMORY || old > number) seen.delete(old)
  }

  function historyOf(head: Block, known: Known | undefined): History {
    if (known === undefined) return 'kept'
    if (head.number >= known.number) {
      const hash = seen.get(known.number)
      return hash === undefined || known.now?.hash === hash ? 'kept' : 'reorganized'
    }
    const hash = seen.get(head.number)
    if (hash !== undefined && hash !== head.hash) return 'reorganized'
    behindSince ??= performance.now()
    return performance.now() - behindSince < HEAD_LAG_MS ? 'behind' : 'reset'
  }

  return {
    tip: () => tip,
    async next(head, known, askGenesis) {
      let history = historyOf(head, known)
      if (history === 'behind') return history
      if (genesis === undefined || history === 'reorganized') {
        const found = await askGenesis()
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
