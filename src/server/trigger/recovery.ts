import { ChainAnswerError } from '../../chain/errors.js'
import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../logger.js'
import type { OrderRecords } from '../store/orderRecords.js'
import { firstBlockSince, type RangeReader } from './blockRange.js'
import type { Dispatcher } from './dispatcher.js'
import type { EscrowEvent, EscrowEvents } from './escrowEvents.js'
import { REREAD_BLOCKS } from './eventWindow.js'
import { byPosition, type ChainPosition, type OpenedOrder } from './trackedOrder.js'
import type { Recovered } from './watcher.js'

/** An order lives 30 days at most and can be reclaimed seven days later; a day to spare. */
export const LOOK_BACK_SECONDS = 38 * 24 * 3_600
/** Reads that travel as one request. */
const BATCH = 100
/** Of an order that was opened before the look back: before all others. */
const LONG_AGO: ChainPosition = { block: 0, logIndex: 0 }

export interface RecoveryOptions {
  readonly events: EscrowEvents
  readonly ranges: RangeReader
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  readonly records: OrderRecords
  readonly dispatcher: Dispatcher
  readonly logger: Logger
}

/**
 * Deals with what the chain holds when the server starts: every open escrow runs again, with its envelope or, if the
 * cache has none, without; a stored order whose escrow has ended is concluded.
 *
 * @throws ChainUnavailableError, ChainAnswerError, Problem `storage-unavailable`; repeatable then
 */
export async function recover(options: RecoveryOptions): Promise<Recovered> {
  const { events, records, escrow, dispatcher, logger } = options
  const head = await events.head()
  const past = await lookBack(options, head)
  const opened = new Map(past.flatMap((event) => (event.kind === 'opened' ? [[event.orderId, event]] : [])))
  const ids = [...new Set([...opened.keys(), ...(await records.openIds())])]
  const orders: { order: OpenedOrder; state: EscrowedOrder['state'] }[] = []
  for (let at = 0; at < ids.length; at += BATCH) {
    const batch = ids.slice(at, at + BATCH)
    const states = await Promise.all(batch.map((orderId) => escrow.orders(orderId)))
    for (const [index, { account, commit, state }] of states.entries()) {
      const orderId = batch[index]
      if (orderId === undefined) continue
      const event = opened.get(orderId)
      // It has just been opened on another node: the one that was asked now is behind.
      if (event !== undefined && state === 'NONE') throw new ChainAnswerError('the node is behind')
      const position = event?.position ?? LONG_AGO
      orders.push({ order: { orderId, account, commit, position }, state })
    }
  }
  orders.sort((a, b) => byPosition(a.order.position, b.order.position))
  for (const { order, state } of orders) {
    if (state === 'OPEN') await dispatcher.resume(order)
    else if (state !== 'NONE') await dispatcher.closed(order, state)
  }
  logger.info('open orders read', {
    blockNumber: head,
    count: orders.filter(({ state }) => state === 'OPEN').length,
  })
  dispatcher.release()
  return { block: head, events: past.filter(({ position }) => position.block > head - REREAD_BLOCKS) }
}

async function lookBack({ events, ranges }: RecoveryOptions, head: number): Promise<EscrowEvent[]> {
  const now = await events.blockTime(head)
  const past: EscrowEvent[] = []
  let from = await firstBlockSince(events, (now ?? 0) - LOOK_BACK_SECONDS, head)
  while (from <= head) {
    const piece = await ranges.readPiece(from, head)
    if (piece === undefined) throw new ChainAnswerError('the node is behind')
    past.push(...piece.events)
    from = piece.to + 1
  }
  return past
}
