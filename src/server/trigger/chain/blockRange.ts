import type { EscrowEvents, EscrowRange } from './escrowEvents.js'

/** Reads long ranges in pieces that the nodes take. */
export interface RangeReader {
  /**
   * The range's first piece, and the number of its last block. Undefined when the node that was asked is behind.
   * @throws ChainUnavailableError, ChainAnswerError
   */
  readPiece(from: number, to: number): Promise<RangePiece | undefined>
}

export interface RangePiece extends EscrowRange {
  readonly to: number
}

/** Nodes limit a query by blocks or by events, each in its own way: a refused piece is halved, a good one grows again. */
export function createRangeReader(events: EscrowEvents, maxBlocks: number): RangeReader {
  let blocks = maxBlocks
  return {
    async readPiece(from, to) {
      for (;;) {
        const last = Math.min(to, from + blocks - 1)
        const answer = await events.read(from, last)
        if (answer === 'lagging') return undefined
        if (answer !== 'refused') {
          blocks = Math.min(maxBlocks, blocks * 2)
          return { ...answer, to: last }
        }
        if (blocks === 1) throw new RangeRefusedError()
        blocks = Math.max(1, Math.floor(blocks / 2))
      }
    },
  }
}

/** A node does not give the events of even one block. */
export class RangeRefusedError extends Error {
  override readonly name = 'RangeRefusedError'
}

/**
 * The first block at `timestamp` (Unix seconds) or later, by binary search; `head` when none is.
 * A block that the node no longer has counts as earlier.
 */
export async function firstBlockSince(
  events: EscrowEvents,
  timestamp: number,
  head: number,
): Promise<number> {
  let low = 0
  let high = head
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const time = await events.blockTime(middle)
    if (time !== undefined && time >= timestamp) high = middle
    else low = middle + 1
  }
  return low
}
