import { LRUCache } from 'lru-cache'
import { fitOf } from '../../chain/blockTracker.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { ChainAnswerError } from '../../chain/errors.js'
import { type BlockId, firstBlockSince } from '../../chain/logReader.js'
import type { Hex } from '../../protocol/hex.js'
import { createSemaphore } from '../../service/semaphore.js'
import {
  createRangeReader,
  type EscrowEvent,
  type EscrowEvents,
  type EscrowObserver,
  type EscrowPiece,
  REREAD_BLOCKS,
} from '../escrow/escrowLogs.js'
import type { ChainHead } from '../reads/chainHead.js'
import { type HistoryReader, NO_HISTORY, type OrderHistory } from './orderHistory.js'

/** The orders' events on the chain, kept with the head at which they were read. */
export interface OrderHistories {
  /**
   * The order's history at the latest block, empty when the chain does not know it. Concurrent callers share one read. Reads
   * only when the head has moved, and never again once the order's end is final.
   * @throws ChainUnavailableError, ChainAnswerError
   */
  of(orderId: Hex): Promise<OrderHistory>
  /** Takes what the escrow poller reads. */
  readonly observer: EscrowObserver
}

interface OrderHistoriesOptions {
  readonly head: Pick<ChainHead, 'note' | 'current' | 'ask'>
  readonly events: EscrowEvents
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  readonly readHistory: HistoryReader
  /** Blocks that one query of events may span. */
  readonly maxBlocks: number
}

interface Known {
  readonly events: readonly EscrowEvent[]
  readonly history: OrderHistory
  /** The block as of which this is true. */
  readonly at: BlockId
}

/** Orders whose history is kept, and those of which only the block of their opening is: some megabytes each. */
const HISTORIES = 10_000
const OPENINGS = 100_000
/** The contract's `MAX_LIFETIME`: seconds from opening to deadline at most. */
const MAX_LIFETIME_SECONDS = 30 * 24 * 3_600
/** Concurrent searches for an opening: each one is many requests. */
const SEARCHES = 2

export function createOrderHistories(options: OrderHistoriesOptions): OrderHistories {
  const { head: chainHead, events, escrow, readHistory, maxBlocks } = options
  const histories = new LRUCache<Hex, Known>({ max: HISTORIES })
  const openings = new LRUCache<Hex, number>({ max: OPENINGS })
  const underWay = new Map<Hex, Promise<OrderHistory>>()
  const searches = createSemaphore(SEARCHES)

  async function refresh(orderId: Hex): Promise<OrderHistory> {
    const known = histories.get(orderId)
    const next = (known && (await followed(orderId, known))) ?? (await begin(orderId))
    histories.set(orderId, next)
    return next.history
  }

  /** The known history, brought up to the head; undefined when it is of another chain, or the order was not on it. */
  async function followed(orderId: Hex, known: Known): Promise<Known | undefined> {
    const head = await chainHead.current()
    if (isCurrent(known, head)) return known
    // The node that found no order may have been behind.
    if (known.history.opened === null) return undefined
    const later = await scan(events, maxBlocks, orderId, { from: known.at.number + 1, head, isOpen: false })
    if (later === undefined) return known
    if (fitOf(known.at, later.parent) !== 'kept') return undefined
    if (later.events.length === 0) return { ...known, at: later.at }
    return withHistory([...known.events, ...later.events], later.at)
  }

  async function begin(orderId: Hex): Promise<Known> {
    // In this order, so that the escrow's state is not older than the blocks that are read.
    const head = await chainHead.ask()
    const { state, deadline } = await escrow.orders(orderId)
    if (state === 'NONE') return { events: [], history: NO_HISTORY, at: head }
    const range = { head, isOpen: state === 'OPEN' }
    const near = Math.max(0, (openings.get(orderId) ?? head.number - maxBlocks) - REREAD_BLOCKS)
    const recent = await scan(events, maxBlocks, orderId, { ...range, from: near })
    const isFound = near === 0 || recent?.events[0]?.kind === 'opened'
    const found = isFound ? recent : await search(orderId, range, deadline - MAX_LIFETIME_SECONDS)
    if (found === undefined) throw new ChainAnswerError('the node is behind')
    return withHistory(found.events, found.at)
  }

  /** For an order that was opened too long ago for its opening to be known. */
  async function search(orderId: Hex, range: { head: BlockId; isOpen: boolean }, since: number) {
    await searches.acquire()
    try {
      const from = await firstBlockSince(events.blockTime, since, range.head.number)
      return await scan(events, maxBlocks, orderId, { ...range, from })
    } finally {
      searches.release()
    }
  }

  async function withHistory(found: readonly EscrowEvent[], at: BlockId): Promise<Known> {
    return { events: found, history: await readHistory(found), at }
  }

  return {
    of(orderId) {
      const joined = underWay.get(orderId)
      if (joined !== undefined) return joined
      const refreshed = refresh(orderId).finally(() => underWay.delete(orderId))
      underWay.set(orderId, refreshed)
      return refreshed
    },
    observer: {
      onHead: chainHead.note,
      onEvents(seen) {
        for (const event of seen) {
          if (event.kind === 'opened') openings.set(event.orderId, event.position.block)
        }
      },
    },
  }
}

/** Whether no event can have been added or removed since. */
function isCurrent({ events, at }: Known, head: BlockId): boolean {
  return at.hash === head.hash || (isFinal(events, at) && head.number >= at.number)
}

/** One order's events in a range of blocks. */
interface Scanned {
  /** In their order. */
  readonly events: readonly EscrowEvent[]
  /** The block before the range; null when there is none. */
  readonly parent: BlockId | null
  /** The block as of which this is true. */
  readonly at: BlockId
}

interface ScanRange {
  readonly from: number
  readonly head: BlockId
  /** The escrow says that the order has not ended, so no block between its opening and the head need be read. */
  readonly isOpen: boolean
}

/**
 * Reads the events of one order, in pieces that the nodes take. Undefined when the node that answered is behind, or the
 * chain was reorganized in between.
 * @throws ChainUnavailableError, ChainAnswerError
 */
async function scan(
  events: EscrowEvents,
  maxBlocks: number,
  orderId: Hex,
  { from, head, isOpen }: ScanRange,
): Promise<Scanned | undefined> {
  const ranges = createRangeReader(events, maxBlocks, orderId)
  const found: EscrowEvent[] = []
  let first: EscrowPiece | undefined
  let last: EscrowPiece | undefined
  let next = from
  while (next <= head.number && !isFinal(found, head)) {
    const piece = await ranges.readPiece({ from: next, to: head.number })
    if (piece === undefined) return undefined
    if (last !== undefined && fitOf(last.last, piece.parent) !== 'kept') return undefined
    first ??= piece
    last = piece
    found.push(...piece.events)
    next = piece.to + 1
    // The node that gave the escrow's state may have been some blocks behind.
    if (isOpen && found.length > 0) next = Math.max(next, head.number - REREAD_BLOCKS)
  }
  const at = last?.last.number === head.number ? last.last : head
  return { events: found, parent: first?.parent ?? null, at }
}

/** Whether the order's end is so deep in the chain that no reorganization removes it. */
function isFinal(events: readonly EscrowEvent[], at: BlockId): boolean {
  const end = events.at(-1)
  return end !== undefined && end.kind !== 'opened' && at.number - end.position.block >= REREAD_BLOCKS
}
