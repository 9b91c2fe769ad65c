import { BrokerError } from './errors.js'
import type { BrokerOrder } from './order.js'
import type { OrderPage } from './orders.js'

/** Events of one burst are answered by one poll. */
const GATHER_MS = 25
/** Between two polls. In a burst an order's fill is seen within half a block of a second, and one poll shows dozens of them. */
const GAP_MS = 400
/** The same while the rate limit holds placements back. */
const SCARCE_GAP_MS = 3_000
/** An order of which no event came: while the stream is down, and while it is up but may have lost some. */
const ALONE_MS = 500
const BESIDE_STREAM_MS = 4_000
/** The broker's list goes by the time of submission, which is not before that of creation. */
const EARLIER_MS = 1_000
/** Events that come before their order is followed are remembered for the last so many orders. */
const REMEMBERED = 10_000

interface Followed {
  readonly order: BrokerOrder
  /** Monotonic ms. */
  readonly since: number
  settle(outcome: BrokerOrder | Error): void
  /** How the last poll failed; null once one has succeeded. */
  failure: BrokerError | null
}

/**
 * Watches orders for as long as callers wait for a change.
 * An event that tells a whole fill is that change. After any other, and where none come, all followed orders are read with one list call.
 */
export function createFollower(deps: {
  readonly poll: (filter: { readonly after: Date; readonly symbols: readonly string[] }) => Promise<OrderPage>
  readonly isStreamLive: () => boolean
  readonly isScarce: () => boolean
  /** Monotonic ms. */
  readonly now: () => number
}) {
  const { now } = deps
  const followed = new Set<Followed>()
  /** The last orders that events came for, the oldest first, with what they told. */
  const announced = new Map<string, BrokerOrder | undefined>()
  let isWanted = false
  let isPolling = false
  let lastPollAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function schedule(): void {
    clearTimeout(timer)
    const [oldest] = followed
    if (isPolling || oldest === undefined) return
    const allowedAt = lastPollAt + (deps.isScarce() ? SCARCE_GAP_MS : GAP_MS)
    const withoutEventsMs = deps.isStreamLive() ? BESIDE_STREAM_MS : ALONE_MS
    const wantedAt = isWanted ? now() + GATHER_MS : Math.max(lastPollAt, oldest.since) + withoutEventsMs
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
      const { orders } = await deps.poll({ after: new Date(since - EARLIER_MS), symbols })
      for (const each of waiting) compare(each, orders.get(each.order.clientOrderId))
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

  function hear(clientOrderId: string, told: BrokerOrder | undefined): void {
    const waiting = [...followed].filter(({ order }) => order.clientOrderId === clientOrderId)
    if (waiting.length === 0) return
    announced.delete(clientOrderId)
    for (const each of waiting) {
      if (told?.state === 'filled' && told.id === each.order.id) each.settle(told)
      else isWanted = true
    }
    schedule()
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
          since: now(),
          failure: null,
          settle(outcome) {
            clearTimeout(end)
            followed.delete(each)
            if (outcome instanceof Error) reject(outcome)
            else resolve(outcome)
          },
        }
        const end = setTimeout(() => each.settle(each.failure ?? order), withinMs)
        followed.add(each)
        const { clientOrderId } = order
        if (announced.has(clientOrderId)) hear(clientOrderId, announced.get(clientOrderId))
        else schedule()
      })
    },
    /**
     * Something happened to the order with this `client_order_id`; undefined: perhaps to any.
     * @param told the order as it is since
     */
    announce(clientOrderId?: string, told?: BrokerOrder): void {
      // Who waits for a change waits for the end.
      if (told?.status === 'partially_filled') return
      if (clientOrderId === undefined) {
        isWanted = true
        schedule()
        return
      }
      announced.delete(clientOrderId)
      announced.set(clientOrderId, told)
      const [oldest] = announced.keys()
      if (announced.size > REMEMBERED && oldest !== undefined) announced.delete(oldest)
      hear(clientOrderId, told)
    },
  }
}

function isChanged(before: BrokerOrder, now: BrokerOrder): boolean {
  return before.status !== now.status || before.filledQty !== now.filledQty || before.id !== now.id
}
