import { LRUCache } from 'lru-cache'
import type { BrokerOrder } from './order.js'

const REMEMBERED = 10_000
/** Events may get lost: a resting order is asked for again after this. */
const RESTING_MAX_AGE_MS = 15 * 60_000

type Ask = () => Promise<BrokerOrder | null>

/**
 * Readings of limit orders that stand in for the next ones: of one that the broker has closed for good, and of one that rests while the
 * stream has told nothing of it since. Absence is never remembered.
 */
export function createReadings({ isStreamLive }: { readonly isStreamLive: () => boolean }) {
  const closed = new LRUCache<string, BrokerOrder>({ max: REMEMBERED })
  const resting = new LRUCache<string, BrokerOrder>({ max: REMEMBERED, ttl: RESTING_MAX_AGE_MS })
  /** Ids that are being asked for, and of which no event has come since. */
  const quiet = new Set<string>()
  return {
    /** The order with this id, which `ask` asks the broker for. */
    async read(clientOrderId: string, ask: Ask): Promise<BrokerOrder | null> {
      const known = closed.get(clientOrderId) ?? (isStreamLive() ? resting.get(clientOrderId) : undefined)
      if (known !== undefined) return known
      if (isStreamLive()) quiet.add(clientOrderId)
      const found = await ask()
      const isQuiet = quiet.delete(clientOrderId)
      if (found === null || found.limitPrice === null) return found
      if (found.state === 'expired' || found.state === 'canceled') closed.set(clientOrderId, found)
      else if (found.state === 'live' && isQuiet) resting.set(clientOrderId, found)
      return found
    },
    /** Something happened to the order with this id; undefined: perhaps to any. */
    announce(clientOrderId?: string): void {
      if (clientOrderId === undefined) {
        resting.clear()
        quiet.clear()
        return
      }
      resting.delete(clientOrderId)
      quiet.delete(clientOrderId)
    },
  }
}
