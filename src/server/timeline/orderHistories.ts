import { ChainAnswerError } from '../../chain/errors.js'
import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { Hex } from '../../protocol/hex.js'
import { createRecentMap } from '../../service/recentMap.js'
import { createSemaphore } from '../async/semaphore.js'
import type { BlockId, EscrowEvent, EscrowEvents, EscrowObserver } from '../escrow/escrowLogs.js'
import { firstBlockSince, REREAD_BLOCKS } from '../escrow/logRanges.js'
import type { ChainHead } from '../reads/chainHead.js'
import { type HistoryReader, NO_HISTORY, type OrderHistory } from './orderHistory.js'
import { createOrderScan, isSettled } from './orderScan.js'

/** What the chain tells of orders, remembered as of the head at which it was read. */
export interface OrderHistories {
  /**
   * The order's history at the latest block, empty when the chain does not know it. Asks the chain only when its head has
   * moved, once for all who want to know, and no more once the order's end lies deep.
   * @throws ChainUnavailableError, ChainAnswerError
   */
  of(orderId: Hex): Promise<OrderHistory>
  /** Takes over what the escrow's watcher reads. */
  readonly observer: EscrowObserver
}

export interface OrderHistoriesOptions {
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

/** Orders whose history is remembered, and those of which only the block of their opening is: some megabytes each. */
const HISTORIES = 10_000
const OPENINGS = 100_000
/** The contract's `MAX_LIFETIME`: seconds from opening to deadline at most. */
const MAX_LIFETIME_SECONDS = 30 * 24 * 3_600
/** Searches for an opening at the same time: each one is many requests. */
const SEARCHES = 2

export function createOrderHistories(options: OrderHistoriesOptions): OrderHistories {
  const { head: chainHead, events, escrow, readHistory, maxBlocks } = options
  const { scan } = createOrderScan(events, maxBlocks)
  const histories = createRecentMap<Hex, Known>(HISTORIES)
  const openings = createRecentMap<Hex, number>(OPENINGS)
  const underWay = new Map<Hex, Promise<OrderHistory>>()
  const searches = createSemaphore(SEARCHES)

  async function refresh(orderId: Hex): Promise<OrderHistory> {
    const known = histories.get(orderId)
    const next = (known && (await followed(orderId, known))) ?? (await begin(orderId))
    histories.set(orderId, next)
    return next.history
  }

  /** As of the head; undefined when the chain is another one than it was, or the order was not on it. */
  async function followed(orderId: Hex, known: Known): Promise<Known | undefined> {
    const head = await chainHead.current()
    if (isCurrent(known, head)) return known
    // Perhaps it was looked for at a node that was behind.
    if (known.history.opened === null) return undefined
    const later = await scan(orderId, { from: known.at.number + 1, head, isOpen: false })
    if (later === undefined) return known
    if (later.parentHash !== known.at.hash) return undefined
    if (later.events.length === 0) return { ...known, at: later.at }
    return withHistory([...known.events, ...later.events], later.at)
  }

  async function begin(orderId: Hex): Promise<Known> {
    // In this order: what the escrow says is then not older than the blocks that are read.
    const head = await chainHead.ask()
    const { state, deadline } = await escrow.orders(orderId)
    if (state === 'NONE') return { events: [], history: NO_HISTORY, at: head }
    const range = { head, isOpen: state === 'OPEN' }
    const near = Math.max(0, (openings.get(orderId) ?? head.number - maxBlocks) - REREAD_BLOCKS)
    const recent = await scan(orderId, { ...range, from: near })
    const isFound = near === 0 || recent?.events[0]?.kind === 'opened'
    const found = isFound ? recent : await search(orderId, range, deadline - MAX_LIFETIME_SECONDS)
    if (found === undefined) throw new ChainAnswerError('the node is behind')
    return withHistory(found.events, found.at)
  }

  /** For an order of which nothing was seen, as it was opened long ago. */
  async function search(orderId: Hex, range: { head: BlockId; isOpen: boolean }, since: number) {
    await searches.acquire()
    try {
      const from = await firstBlockSince(events, since, range.head.number)
      return await scan(orderId, { ...range, from })
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

/** Whether nothing can have been added, or taken away, by now. */
function isCurrent({ events, at }: Known, head: BlockId): boolean {
  return at.hash === head.hash || (isSettled(events, at) && head.number >= at.number)
}
