import { ChainAnswerError } from '../../chain/errors.js'
import type { BlockId, EscrowEvent, EscrowEvents, EscrowRange } from './escrowLogs.js'

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

/** Blocks whose events are read again after a reorganisation: it replaces blocks that were looked at before. */
export const REREAD_BLOCKS = 64

/** An order lives 30 days at most and can be reclaimed seven days later; a day to spare. */
const LOOK_BACK_SECONDS = 38 * 24 * 3_600

/** The events that may still matter, and the last block that was read for them. */
export interface Past {
  readonly events: readonly EscrowEvent[]
  readonly block: BlockId
}

/** Reads the past, which takes hundreds of requests. */
export interface LookBack {
  /**
   * Goes on where an earlier try was stopped by a failure: else a node that limits its rate would never be done with.
   *
   * @param now Unix seconds of the head
   * @throws ChainUnavailableError, ChainAnswerError; repeatable then
   */
  read(now: number, head: BlockId): Promise<Past>
  /** Lets go of what was read. */
  forget(): void
}

export function createLookBack(source: {
  readonly events: EscrowEvents
  readonly ranges: RangeReader
}): LookBack {
  /** The first block of all, and the next one to be read; undefined before anything is. */
  let first: number | undefined
  let next = 0
  /** The block before the next one, as it was read. */
  let last: BlockId | undefined
  let past: EscrowEvent[] = []

  function forget(): void {
    first = undefined
    last = undefined
    past = []
  }

  /** Blocks before this one are not what they were: some are read again, or all. */
  function goBack(block: number): void {
    const from = block - REREAD_BLOCKS
    if (first === undefined || from <= first) {
      forget()
      return
    }
    next = from
    last = undefined
    past = past.filter(({ position }) => position.block < from)
  }

  async function begin(now: number, head: BlockId): Promise<void> {
    next = await firstBlockSince(source.events, now - LOOK_BACK_SECONDS, head.number)
    first = next
  }

  return {
    forget,
    async read(now, head) {
      if (last !== undefined && head.number < last.number) goBack(head.number + 1)
      else if (head.number === last?.number && head.hash !== last.hash) goBack(head.number)
      if (first === undefined) await begin(now, head)
      while (next <= head.number) {
        const piece = await source.ranges.readPiece(next, head.number)
        if (piece === undefined) throw new ChainAnswerError('the node is behind')
        if (last !== undefined && piece.parentHash !== last.hash) {
          goBack(next)
          throw new ChainAnswerError('the chain changed')
        }
        past.push(...piece.events)
        last = { number: piece.to, hash: piece.hash }
        next = piece.to + 1
      }
      return { events: past, block: last ?? head }
    },
  }
}
