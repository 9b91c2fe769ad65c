import { ChainAnswerError } from '../../chain/errors.js'
import type { Hex } from '../../protocol/hex.js'
import type { BlockId, EscrowEvent, EscrowEvents } from '../escrow/escrowLogs.js'
import { createRangeReader, type RangePiece, RangeRefusedError, REREAD_BLOCKS } from '../escrow/logRanges.js'

/** What a range of blocks holds of one order. */
export interface Scanned {
  /** In their order. */
  readonly events: readonly EscrowEvent[]
  /** Hash of the block before the range; null when there is none. */
  readonly parentHash: string | null
  /** The block as of which this is true. */
  readonly at: BlockId
}

export interface ScanRange {
  readonly from: number
  readonly head: BlockId
  /** The escrow says that the order has not ended: what lies between its opening and the head need not be read. */
  readonly isOpen: boolean
}

/** Reads the events of one order, in pieces that the nodes take. */
export interface OrderScan {
  /**
   * Undefined when the node that answered is behind, or the chain changed meanwhile.
   * @throws ChainUnavailableError, ChainAnswerError
   */
  scan(orderId: Hex, range: ScanRange): Promise<Scanned | undefined>
}

export function createOrderScan(events: EscrowEvents, maxBlocks: number): OrderScan {
  return {
    async scan(orderId, { from, head, isOpen }) {
      const ofOrder = { ...events, read: (first: number, last: number) => events.read(first, last, orderId) }
      const ranges = createRangeReader(ofOrder, maxBlocks)
      const found: EscrowEvent[] = []
      let first: RangePiece | undefined
      let last: RangePiece | undefined
      let next = from
      while (next <= head.number && !isSettled(found, head)) {
        const piece = await readPiece(ranges, next, head.number)
        if (piece === undefined) return undefined
        if (last !== undefined && last.to === next - 1 && piece.parentHash !== last.hash) return undefined
        first ??= piece
        last = piece
        found.push(...piece.events)
        next = piece.to + 1
        // The escrow was perhaps asked at a node that is some blocks behind.
        if (isOpen && found.length > 0) next = Math.max(next, head.number - REREAD_BLOCKS)
      }
      const at = last?.to === head.number ? { number: last.to, hash: last.hash } : head
      return { events: found, parentHash: first?.parentHash ?? null, at }
    },
  }
}

/** Whether the order has ended so deep in the chain that nothing comes after it any more. */
export function isSettled(events: readonly EscrowEvent[], at: BlockId): boolean {
  const end = events.at(-1)
  return end !== undefined && end.kind !== 'opened' && at.number - end.position.block >= REREAD_BLOCKS
}

async function readPiece(ranges: ReturnType<typeof createRangeReader>, from: number, to: number) {
  try {
    return await ranges.readPiece(from, to)
  } catch (error) {
    if (!(error instanceof RangeRefusedError)) throw error
    throw new ChainAnswerError('no node gives the events of an order', { cause: error })
  }
}
