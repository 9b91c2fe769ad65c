import type { EscrowedOrder } from '../../chain/contracts.js'
import { ChainAnswerError } from '../../chain/errors.js'
import type { Hex } from '../../protocol/hex.js'
import { isReclaimable } from '../../protocol/reclaimDelay.js'
import type { Logger } from '../../service/logger.js'
import { inBatches } from '../../service/waiting.js'
import {
  type ChainPosition,
  type ClosedEvent,
  type EscrowEvent,
  type EscrowEvents,
  type LookBack,
  type OpenedEvent,
  type OpenedOrder,
  REREAD_BLOCKS,
} from '../escrow/escrowLogs.js'
import type { Recovered } from '../escrow/escrowPoller.js'
import { StorageError } from '../store/engine.js'
import type { OrderRecords } from '../store/orderRecords.js'
import { byPosition } from './orderQueue.js'
import type { Scheduler } from './scheduler.js'

/** Reads that travel as one request. */
const BATCH = 100
/** For an order that was opened before the look back: before all others. */
const FIRST_POSITION: ChainPosition = { block: 0, logIndex: 0 }

interface RecoveryOptions {
  readonly events: EscrowEvents
  readonly lookBack: LookBack
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  readonly records: OrderRecords
  readonly scheduler: Scheduler
  readonly logger: Logger
}

/**
 * Handles the chain's state when a term starts. Every open escrow runs again, with its envelope if one is stored. A stored order
 * whose escrow has ended is concluded, and one that was reclaimed runs once more. Ended orders without an open record are not
 * read, because they may be many.
 *
 * @throws ChainUnavailableError, ChainAnswerError, StorageError; repeatable then
 */
export async function recover(options: RecoveryOptions): Promise<Recovered> {
  const { events, lookBack, scheduler, logger } = options
  const head = await events.head()
  const now = (await events.blockTime(head.number)) ?? 0
  const { events: past, block } = await lookBack.read(now, head)
  const last = lastEvents(past)
  const found = await readEscrows(options, last, now)
  const refunds = found.flatMap(({ state, refund }) =>
    state === 'REFUNDED' && refund !== undefined ? [refund] : [],
  )
  const reclaimed = await unknownReclaims(options, refunds, now)
  for (const [orderId, { kind }] of last.ended) {
    // A run of the order may go on although its record is final.
    if (isOver(orderId, last, now)) scheduler.seenOnChain(orderId, kind)
  }
  for (const { order, state, refund } of found) {
    const isOwnRefund = refund !== undefined && !isReclaimable(refund.deadline, now)
    if (state === 'SETTLED') scheduler.seenOnChain(order.orderId, 'settled')
    if (state === 'REFUNDED' && isOwnRefund) scheduler.seenOnChain(order.orderId, 'refunded')
    if (reclaimed.has(order.orderId)) await scheduler.reclaimed(order)
    else if (state === 'OPEN') await scheduler.resume(order)
    else if (state !== 'NONE') await scheduler.closed(order, state)
  }
  logger.info('open orders read', {
    blockNumber: block.number,
    count: found.filter(({ state }) => state === 'OPEN').length,
  })
  scheduler.release()
  lookBack.forget()
  return { block, events: past.filter(({ position }) => position.block > block.number - REREAD_BLOCKS) }
}

interface FoundOrder {
  readonly order: OpenedOrder
  readonly state: EscrowedOrder['state']
  /** From its event. */
  readonly refund: Refund | undefined
}

/** The last events of each order. */
interface LastEvents {
  readonly opened: ReadonlyMap<Hex, OpenedEvent>
  readonly ended: ReadonlyMap<Hex, ClosedEvent>
}

function lastEvents(past: readonly EscrowEvent[]): LastEvents {
  const opened = new Map<Hex, OpenedEvent>()
  const ended = new Map<Hex, ClosedEvent>()
  for (const event of past) {
    if (event.kind === 'opened') opened.set(event.orderId, event)
    else ended.set(event.orderId, event)
  }
  return { opened, ended }
}

/** Whether an order without an open record needs no further run. A refund may be a reclaim. */
function isOver(orderId: Hex, { opened, ended }: LastEvents, now: number): boolean {
  const kind = ended.get(orderId)?.kind
  const deadline = opened.get(orderId)?.deadline
  return (
    kind === 'settled' || (kind === 'refunded' && deadline !== undefined && !isReclaimable(deadline, now))
  )
}

/** The escrows of stored orders, and of those that may not be over by their events, in the order of opening. */
async function readEscrows(
  { escrow, records }: RecoveryOptions,
  last: LastEvents,
  now: number,
): Promise<FoundOrder[]> {
  const { opened, ended } = last

  async function read(orderId: Hex): Promise<FoundOrder> {
    const { account, commit, deadline, state } = await escrow.orders(orderId)
    const event = opened.get(orderId)
    // Another node has shown its opening: this one is behind.
    if (event !== undefined && state === 'NONE') throw new ChainAnswerError('the node is behind')
    const order = { orderId, account, commit, position: event?.position ?? FIRST_POSITION }
    const end = ended.get(orderId)
    const refund = end?.kind === 'refunded' ? { orderId, block: end.position.block, deadline } : undefined
    return { order, state, refund }
  }

  const unsettled = [...opened.keys(), ...ended.keys()].filter((orderId) => !isOver(orderId, last, now))
  const ids = [...new Set([...unsettled, ...(await records.openIds())])]
  const found = await inBatches(ids, BATCH, read)
  return found.sort((a, b) => byPosition(a.order.position, b.order.position))
}

/** Block times read concurrently. */
const TIMES_BATCH = 20

/** An escrow that was refunded, by the enclave or by a reclaim: the event is the same. */
interface Refund {
  readonly orderId: Hex
  /** The block of its `OrderRefunded`. */
  readonly block: number
  /** Unix seconds. */
  readonly deadline: number
}

/**
 * The refunds that may be reclaims that the enclave does not know of: those late enough for one, of orders without a readable
 * record. The enclave may still hold a reclaimed order, and without the record only the event shows the reclaim.
 *
 * @throws ChainUnavailableError, ChainAnswerError
 */
async function unknownReclaims(
  { events, records }: { readonly events: EscrowEvents; readonly records: OrderRecords },
  refunds: readonly Refund[],
  now: number,
): Promise<Set<Hex>> {
  const found = new Set<Hex>()
  const possible = refunds.filter(({ deadline }) => isReclaimable(deadline, now))
  await inBatches(possible, TIMES_BATCH, async ({ orderId, block, deadline }) => {
    if (await isKnown(records, orderId)) return
    const time = await events.blockTime(block)
    if (time === undefined || isReclaimable(deadline, time)) found.add(orderId)
  })
  return found
}

async function isKnown(records: OrderRecords, orderId: Hex): Promise<boolean> {
  try {
    return (await records.get(orderId)) !== undefined
  } catch (error) {
    if (error instanceof StorageError) return false
    throw error
  }
}
