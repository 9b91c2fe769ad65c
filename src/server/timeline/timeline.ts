import type { Timeline } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'
import { matchingCandidate, type OrderRecord, type OrderRecords } from '../store/orderRecords.js'
import type { ReceiptStore } from '../store/receipts.js'
import { timelineEntries } from './entries.js'
import type { OrderHistories } from './orderHistories.js'
import type { OrderHistory } from './orderHistory.js'

export interface TimelineDeps {
  readonly records: Pick<OrderRecords, 'get'>
  readonly receipts: Pick<ReceiptStore, 'get'>
  readonly histories: Pick<OrderHistories, 'of'>
}

/**
 * What happened to an order: of the server's own doing as far as the cache knows it, and of the chain's all.
 *
 * @throws Problem `order-not-found`; StorageError, ChainUnavailableError, ChainAnswerError
 */
export type ReadTimeline = (orderId: Hex) => Promise<Timeline>

export function createTimeline({ records, receipts, histories }: TimelineDeps): ReadTimeline {
  return async (orderId) => {
    const [history, record] = await Promise.all([histories.of(orderId), records.get(orderId)])
    if (isUnknown(history) && record === undefined) throw new Problem('order-not-found')
    const found = await Promise.all((record?.digests ?? []).map((digest) => receipts.get(digest)))
    const entries = timelineEntries({
      received: receivedOf(record, history),
      triggers: record?.triggers ?? [],
      receipts: found.flatMap((relayRecord) => (relayRecord === undefined ? [] : [relayRecord.receipt])),
      history,
    })
    return { orderId, entries }
  }
}

function isUnknown({ opened, ended }: OrderHistory): boolean {
  return opened === null && ended === null
}

/** Once the escrow tells which envelope is the order's, the time of another one says nothing. */
function receivedOf(record: OrderRecord | undefined, { opened }: OrderHistory) {
  const candidate = opened === null ? record?.candidates[0] : matchingCandidate(record, opened.commit)
  return candidate ?? null
}
