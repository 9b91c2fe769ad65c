import { LRUCache } from 'lru-cache'
import { BrokerError } from './errors.js'
import type { BrokerOrder } from './order.js'
import type { OrderPage } from './orders.js'

const REMEMBERED = 10_000
const MOST_SENT = 100_000
/** Events may get lost: an order that rests is asked for again after this. */
const RESTING_MAX_AGE_MS = 15 * 60_000

export type Readings = ReturnType<typeof createReadings>

/**
 * What a process knows of orders, in place of the next look-up: one that the broker has closed, for ever; a limit order that rests, while the
 * stream tells nothing of it; and one that nobody had sent, until this process does.
 */
export function createReadings(deps: {
  readonly lookUp: (clientOrderId: string) => Promise<BrokerOrder | null>
  /** The account's newest orders, as they were when the process first asked, back to a time, or not quite so far. */
  readonly newest: (since: Date) => Promise<OrderPage>
  readonly isStreamLive: () => boolean
}) {
  const { lookUp, isStreamLive } = deps
  const closed = new LRUCache<string, BrokerOrder>({ max: REMEMBERED })
  const resting = new LRUCache<string, BrokerOrder>({ max: REMEMBERED, ttl: RESTING_MAX_AGE_MS })
  const absent = new LRUCache<string, true>({ max: REMEMBERED })
  const sent = new LRUCache<string, true>({ max: MOST_SENT })
  /** Ids that are being asked for, and of which no event has come since. */
  const quiet = new Set<string>()

  /** Many orders from one list: those that it does not name, though it reaches far enough, and those that have ended. */
  async function lookAmongNewest(clientOrderId: string, unsentSince: Date): Promise<BrokerOrder | null> {
    if (sent.has(clientOrderId)) return lookUp(clientOrderId)
    if (absent.has(clientOrderId)) return null
    const { orders, since } = await deps.newest(unsentSince).catch(unlessLimited)
    const found = orders.get(clientOrderId)
    if (found === undefined) return since <= unsentSince ? null : lookUp(clientOrderId)
    return found === null || found.state === 'live' ? lookUp(clientOrderId) : found
  }

  return {
    /**
     * The order with this id; null when the account has none.
     * @param unsentSince the order may be sent next, and was not before this time: then it may be known as absent, or follow from a list, as
     *   the broker takes an id once. Otherwise a look of its own shows absence.
     */
    async read(clientOrderId: string, unsentSince?: Date): Promise<BrokerOrder | null> {
      const known = closed.get(clientOrderId) ?? (isStreamLive() ? resting.get(clientOrderId) : undefined)
      if (known !== undefined) return known
      if (isStreamLive()) quiet.add(clientOrderId)
      const found = await (unsentSince ? lookAmongNewest(clientOrderId, unsentSince) : lookUp(clientOrderId))
      const isQuiet = quiet.delete(clientOrderId)
      if (found === null) {
        absent.set(clientOrderId, true)
        return null
      }
      sent.set(clientOrderId, true)
      if (found.state !== 'live') closed.set(clientOrderId, found)
      else if (found.limitPrice !== null && isQuiet) resting.set(clientOrderId, found)
      return found
    },
    /**
     * Right before the bytes of its request.
     * @returns to be called where the broker has refused the request without a look at the order
     */
    sent(clientOrderId: string): () => void {
      const isFirst = !sent.has(clientOrderId)
      sent.set(clientOrderId, true)
      return () => void (isFirst && sent.delete(clientOrderId))
    },
    /** Something happened to the order with this id, which may be filled since; undefined: perhaps to any. */
    announce(clientOrderId?: string, told?: BrokerOrder): void {
      if (clientOrderId === undefined) {
        resting.clear()
        quiet.clear()
        return
      }
      resting.delete(clientOrderId)
      quiet.delete(clientOrderId)
      if (told?.state === 'filled') closed.set(clientOrderId, told)
      // The broker may correct a trade, or bust it.
      else closed.delete(clientOrderId)
    },
  }
}

/** A list that cannot be read shows nothing. Where there is no room for it, there is none for each order's own look. */
function unlessLimited(error: unknown): OrderPage {
  if (!(error instanceof BrokerError) || error.kind === 'rate-limited') throw error
  return { orders: new Map(), since: new Date(8.64e15) }
}
