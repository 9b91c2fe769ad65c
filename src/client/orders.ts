import type * as z from 'zod/mini'
import {
  hasEnded,
  isNoticeDue,
  type OrderStatus,
  orderStatusSchema,
  type Timeline,
  type TimelineEntry,
  timelineSchema,
} from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { ClientError } from './errors.js'
import type { CallOptions, Http } from './http.js'
import { type Followed, type FollowOptions, follow, type WatchOptions, watch } from './poll.js'
import { type RetryTiming, withRetries } from './retry.js'

/** Orders at the server. An aborted call rejects with the signal's reason. */
export interface Orders {
  /**
   * @throws ServerError `order-not-found` if neither the chain nor the server knows the order
   * @example const { state, notice } = await client.getOrder(orderId)
   */
  getOrder(orderId: Hex, options?: CallOptions): Promise<OrderStatus>
  /**
   * Calls `onStatus` with what `listOrderStatuses` yields.
   * @returns a function that ends the watch: nothing is called after it
   * @example const unsubscribe = client.watchOrder(orderId, { onStatus: ({ state }) => console.log(state), onError: console.error })
   */
  watchOrder(orderId: Hex, options: WatchOptions): () => void
  /**
   * Yields the order's status, and again whenever it changes, until it is settled or refunded. Then waits briefly for
   * the notice with the reason or the fill.
   * @example for await (const { state } of client.listOrderStatuses(orderId)) console.log(state)
   */
  listOrderStatuses(orderId: Hex, options?: FollowOptions): AsyncGenerator<OrderStatus, void, undefined>
  /**
   * The order's events, oldest first. It may lag `getOrder` by some seconds.
   * @throws ServerError `order-not-found`
   * @example const { entries } = await client.getOrderTimeline(orderId)
   */
  getOrderTimeline(orderId: Hex, options?: CallOptions): Promise<Timeline>
  /**
   * Yields the timeline, and again whenever it changes, until the order has ended. Then waits briefly for the outcome
   * of a run in progress.
   * @example for await (const { entries } of client.listOrderTimelines(orderId)) console.log(entries.at(-1)?.kind)
   */
  listOrderTimelines(orderId: Hex, options?: FollowOptions): AsyncGenerator<Timeline, void, undefined>
}

interface OrdersDeps {
  readonly http: Http
  readonly timing: RetryTiming
  /** Awaited with the id of each order that the server calls ended. Does not reject. */
  readonly onEnded?: (orderId: Hex) => Promise<void>
}

interface OfOrder {
  readonly orderId: Hex
}

/** What the server tells of an order. */
interface Resource<T> {
  /** What follows the order's path. */
  readonly part: string
  readonly schema: z.ZodMiniType<T>
}
const STATUS: Resource<OrderStatus> = { part: '', schema: orderStatusSchema }
const TIMELINE: Resource<Timeline> = { part: '/timeline', schema: timelineSchema }

export function createOrders({ http, timing, onEnded }: OrdersDeps): Orders {
  const retried = <T>(send: () => Promise<T>, signal?: AbortSignal) => withRetries(send, timing, signal)

  const asking =
    <T extends OfOrder>(
      orderId: Hex,
      { part, schema }: Resource<T>,
      signal?: AbortSignal,
    ): Followed<T>['ask'] =>
    async (etag) => {
      const path = `/orders/${orderId}${part}`
      const answer = await retried(() => http.getIfChanged(path, schema, etag, { signal }), signal)
      if (answer === 'unchanged' || answer.body.orderId === orderId.toLowerCase()) return answer
      throw anotherOrder()
    }

  async function get<T extends OfOrder>(orderId: Hex, resource: Resource<T>, call?: CallOptions): Promise<T> {
    const answer = await asking(orderId, resource, call?.signal)(null)
    if (answer !== 'unchanged') return answer.body
    throw anotherOrder()
  }

  const listOrderStatuses: Orders['listOrderStatuses'] = async function* (orderId, options) {
    const ask = asking(orderId, STATUS, options?.signal)
    for await (const status of follow({ ask, isComplete, isFinal: hasEnded }, options)) {
      if (hasEnded(status)) await onEnded?.(orderId)
      yield status
    }
  }

  return {
    async getOrder(orderId, options) {
      const status = await get(orderId, STATUS, options)
      if (hasEnded(status)) await onEnded?.(orderId)
      return status
    },
    listOrderStatuses,
    watchOrder: (orderId, options) => watch((following) => listOrderStatuses(orderId, following), options),
    getOrderTimeline: (orderId, options) => get(orderId, TIMELINE, options),
    listOrderTimelines: (orderId, options) =>
      follow(
        {
          ask: asking(orderId, TIMELINE, options?.signal),
          isComplete: isWhole,
          isFinal: hasEnd,
        },
        options,
      ),
  }
}

/** Or with none: 304, where no validator was sent. */
function anotherOrder(): ClientError {
  return new ClientError('unexpected-answer', 'The server answered with another order.')
}

/** Ended, with its notice, or without a run in progress that could still deliver one. */
function isComplete(status: OrderStatus): boolean {
  return hasEnded(status) && !isNoticeDue(status)
}

const ENDS = new Set<TimelineEntry['kind']>(['settled', 'refunded', 'reclaimed'])

function hasEnd({ entries }: Timeline): boolean {
  return entries.some(({ kind }) => ENDS.has(kind))
}

/** Every started run has its outcome, and the order has ended. */
function isWhole(timeline: Timeline): boolean {
  const count = (wanted: TimelineEntry['kind']) =>
    timeline.entries.filter(({ kind }) => kind === wanted).length
  return hasEnd(timeline) && count('triggered') === count('outcome')
}
