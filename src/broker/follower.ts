import { BrokerError } from './errors.js'
import type { BrokerOrder } from './order.js'

/** Events of one burst are answered by one poll. */
const GATHER_MS = 25
/** Between two polls. In a burst an order's fill is seen within half a block of a second, and one poll shows dozens of them. */
const GAP_MS = 400
/** The same while the rate limit holds placements back. */
const SCARCE_GAP_MS = 3_000
/** Without events: while the stream is down, and while it is up but may have lost some. */
const ALONE_MS = 500
const BESIDE_STREAM_MS = 2_000
/** The broker's list goes by the time of submission, which is not before that of creation. */
const EARLIER_MS = 1_000
/** Events that come before their order is followed are remembered for the last so many orders. */
const REMEMBERED = 10_000

interface Followed {
  readonly order: BrokerOrder
  settle(outcome: BrokerOrder | Error): void
  /** How the last poll failed; null once one has succeeded. */
  failure: BrokerError | null
}

/**
 * Watches orders for as long as callers wait for a change.
 * Reads all followed orders with one list call, whenever an event comes, and at intervals where none come. An event never means
 * more than "poll now".
 */
export function createFollower(deps: {
  /** By `client_order_id`; null for an order that cannot be read. */
  readonly poll: (filter: {
    readonly after: Date
    readonly symbols: readonly string[]
  }) => Promise<ReadonlyMap<string, BrokerOrder | null>>
  readonly isStreamLive: () => boolean
  readonly isScarce: () => boolean
  /** Monotonic ms. */
  readonly now: () => number
}) {
  const { now } = deps
  const followed = new Set<Followed>()
  /** The last orders that events came for, the oldest first. */
  const announced = new Set<string>()
  let isWanted = false
  let isPolling = false
  let lastPollAt = Number.NEGATIVE_INFINITY
  /** Since when orders have been followed without a pause; what is followed first is as new as its own answer. */
  let followedSince = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function schedule(): void {
    clearTimeout(timer)
    if (isPolling || followed.size === 0) return
    const allowedAt = lastPollAt + (deps.isScarce() ? SCARCE_GAP_MS : GAP_MS)
    const withoutEventsMs = deps.isStreamLive() ? BESIDE_STREAM_MS : ALONE_MS
    const wantedAt = isWanted ? now() + GATHER_MS : Math.max(lastPollAt, followedSince) + withoutEventsMs
    timer = setTimeout(() => void poll(), Math.max(0, Math.max(allowedAt, wantedAt) - now()))
  }

  async function poll(): Promise<void> {
    const waiting = [...followed]
    isPolling = true
    isWanted = false
    lastPollAt = now()
    try {
      const since = Math.min(...waiting.map(({ order }) => order.createdAt.getTime()))
      const symbols = [...new Set(waiting.map(({ order }) => order.symbol))]
      const found = await deps.poll({ after: new Date(since - EARLIER_MS), symbols })
      for (const each of waiting) compare(each, found.get(each.order.clientOrderId))
    } catch (error) {
      for (const each of waiting) {
        if (error instanceof BrokerError) each.failure = error
        else each.settle(error instanceof Error ? error : new Error('the poll failed', { cause: error }))
      }
    } finally {
      isPolling = false
      schedule()
    }
  }

  /** An order that the list does not name is as it was: absence proves nothing. */
  function compare(each: Followed, found: BrokerOrder | null | undefined): void {
    each.failure = null
    if (found === null) {
      each.settle(new BrokerError('unavailable', { route: 'GET /v2/orders', reason: 'unreadable' }))
    } else if (found !== undefined && isChanged(each.order, found)) each.settle(found)
  }

  return {
    /** See `SharedBroker.follow`. */
    follow(order: BrokerOrder, withinMs: number): Promise<BrokerOrder> {
      return new Promise((resolve, reject) => {
        const each: Followed = {
          order,
          failure: null,
          settle(outcome) {
            clearTimeout(end)
            followed.delete(each)
            if (outcome instanceof Error) reject(outcome)
            else resolve(outcome)
          },
        }
        const end = setTimeout(() => each.settle(each.failure ?? order), withinMs)
        if (followed.size === 0) followedSince = now()
        followed.add(each)
        if (announced.delete(order.clientOrderId)) isWanted = true
        schedule()
      })
    },
    /** Something happened to the order with this `client_order_id`; undefined: perhaps to any. */
    announce(clientOrderId?: string): void {
      if (clientOrderId !== undefined) {
        announced.delete(clientOrderId)
        announced.add(clientOrderId)
        const [oldest] = announced
        if (announced.size > REMEMBERED && oldest !== undefined) announced.delete(oldest)
        if (![...followed].some(({ order }) => order.clientOrderId === clientOrderId)) return
        announced.delete(clientOrderId)
      }
      isWanted = true
      schedule()
    },
  }
}

function isChanged(before: BrokerOrder, now: BrokerOrder): boolean {
  return before.status !== now.status || before.filledQty !== now.filledQty || before.id !== now.id
}
