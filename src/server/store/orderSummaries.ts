import type { Hex } from '../../protocol/hex.js'
import { createRecentMap } from '../../service/recentMap.js'
import type { Candidate, OrderRecord, OrderRecords } from './orderRecords.js'

/** What an order's status tells of its record: all but the envelopes themselves. */
export interface OrderSummary extends Pick<OrderRecord, 'triggers' | 'nextTriggerAt' | 'notice'> {
  readonly candidates: readonly Pick<Candidate, 'commit' | 'receivedAt'>[]
}

/** Summaries that are remembered: some kilobytes each, mostly of the notice. */
const CAPACITY = 10_000

/**
 * The same records, and their summaries, for which a record is read again only when it was written: the very same object
 * until then. Only this process writes in the data directory.
 */
export function withSummaries(records: OrderRecords): {
  readonly records: OrderRecords
  /** Undefined when there is no record. @throws StorageError */
  readonly summaryOf: (orderId: Hex) => Promise<OrderSummary | undefined>
} {
  const known = createRecentMap<Hex, Promise<OrderSummary | undefined>>(CAPACITY)

  async function forgetting<T>(orderId: Hex, write: Promise<T>): Promise<T> {
    try {
      return await write
    } finally {
      // Also what was read while it was written.
      known.delete(orderId)
    }
  }

  return {
    records: {
      ...records,
      update: (orderId, change) => forgetting(orderId, records.update(orderId, change)),
      updateOpen: (orderId, change) => forgetting(orderId, records.updateOpen(orderId, change)),
      finish: (orderId) => forgetting(orderId, records.finish(orderId)),
      expire: (orderId, before) => forgetting(orderId, records.expire(orderId, before)),
      removeUnrun: (orderId) => forgetting(orderId, records.removeUnrun(orderId)),
    },
    summaryOf(orderId) {
      const before = known.get(orderId)
      if (before !== undefined) return before
      const summary = records.get(orderId).then(summarize)
      known.set(orderId, summary)
      summary.catch(() => known.delete(orderId))
      return summary
    },
  }
}

function summarize(record: OrderRecord | undefined): OrderSummary | undefined {
  if (record === undefined) return undefined
  const { candidates, triggers, nextTriggerAt, notice } = record
  const kept = candidates.map(({ commit, receivedAt }) => ({ commit, receivedAt }))
  return { candidates: kept, triggers, nextTriggerAt, notice }
}
