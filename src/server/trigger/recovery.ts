import { FINAL_DEPTH } from '../../chain/blockTracker.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { ChainAnswerError } from '../../chain/errors.js'
import type { Hex } from '../../protocol/hex.js'
import { isReclaimable } from '../../protocol/reclaimDelay.js'
import { describeError, type Logger } from '../../service/logger.js'
import { inBatches } from '../../service/waiting.js'
import type {
  Backfill,
  ChainPosition,
  ClosedEvent,
  EscrowEvent,
  EscrowEvents,
  OpenedEvent,
  OpenedOrder,
} from '../escrow/escrowLogs.js'
import { StorageError } from '../store/engine.js'
import type { OrderRecords } from '../store/orderRecords.js'
import { byPosition } from './orderQueue.js'
import type { Scheduler } from './scheduler.js'

/** Reads that travel as one request. */
export const BATCH = 100
/** The place of an order that was opened before the backfill: before all others. */
const FIRST_POSITION: ChainPosition = { block: 0, logIndex: 0 }

/** Attempts work on one record at a time: a failure is logged once, delays no other record, and waits for the next attempt. */
export function createRecordAttempts(message: string, logger: Logger) {
  const failing = new Set<Hex>()
  return async (recordId: Hex, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
      failing.delete(recordId)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (!failing.has(recordId)) logger.error(message, { recordId, ...describeError(error) })
      failing.add(recordId)
    }
  }
}

interface RecoveryOptions {
  readonly events: EscrowEvents
  readonly backfill: Backfill
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
export async function recover(options: RecoveryOptions) {
  const { events, backfill, scheduler, logger } = options
  const head = await events.head()
  const now = (await events.blockTime(head.number)) ?? 0
  const { events: past, block } = await backfill.read(now, head)
  const last = lastEvents(past)
  const found = await readEscrows(options, last, now)
  // Together: a database that has just come back takes its time for each record. Each is tracked in the order of its opening.
  await inBatches(found, BATCH, async ({ order, state, mayBeReclaim }) => {
    if (state === 'OPEN') await scheduler.resume(order)
    else if (state !== 'NONE') await scheduler.closed(order, state, mayBeReclaim)
  })
  logger.info('open orders read', {
    blockNumber: block.number,
    count: found.filter(({ state }) => state === 'OPEN').length,
  })
  scheduler.release()
  backfill.forget()
  return { block, events: past.filter(({ position }) => position.block > block.number - FINAL_DEPTH) }
}

type LastEvents = ReturnType<typeof lastEvents>

function lastEvents(past: readonly EscrowEvent[]) {
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
async function readEscrows({ escrow, events, records }: RecoveryOptions, last: LastEvents, now: number) {
  const { opened, ended } = last

  async function read(orderId: Hex) {
    const { account, commit, deadline, state } = await escrow.orders(orderId)
    const event = opened.get(orderId)
    // Another node has shown its opening: this one is behind.
    if (event !== undefined && state === 'NONE') throw new ChainAnswerError('the node is behind')
    const order: OpenedOrder = { orderId, account, commit, position: event?.position ?? FIRST_POSITION }
    // It was refunded late enough for a reclaim by the account itself, which the enclave does not know of.
    return { order, state, mayBeReclaim: state === 'REFUNDED' && (await isLateRefund(orderId, deadline)) }
  }

  async function isLateRefund(orderId: Hex, deadline: number): Promise<boolean> {
    const end = ended.get(orderId)
    if (end?.kind !== 'refunded' || !isReclaimable(deadline, now)) return false
    const time = await events.blockTime(end.position.block)
    return time === undefined || isReclaimable(deadline, time)
  }

  const unsettled = [...opened.keys(), ...ended.keys()].filter((orderId) => !isOver(orderId, last, now))
  const ids = [...new Set([...unsettled, ...(await records.openIds())])]
  const found = await inBatches(ids, BATCH, read)
  return found.sort((a, b) => byPosition(a.order.position, b.order.position))
}
