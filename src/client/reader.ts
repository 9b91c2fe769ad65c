import type { OrderStatus, Timeline } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { createHttp } from './http.js'
import { createOrders, type Orders } from './orders.js'
import type { FollowOptions } from './poll.js'
import { DEFAULT_TIMING, type RetryTiming } from './retry.js'
import { createViews, type Views } from './views.js'

/** The server's address, and the limits of requests to it. */
export interface ReaderOptions {
  readonly serverUrl: string
  /** Timeout of one request; default 15 s. */
  readonly timeoutMs?: number | undefined
  readonly timing?: RetryTiming | undefined
  readonly fetch?: typeof fetch | undefined
}

/** The server's public data. Every method may throw ClientError and ServerError. */
export interface Reader {
  readonly views: Views
  getOrder(orderId: Hex, signal?: AbortSignal): Promise<OrderStatus>
  /** Yields the status whenever it changes, until it is final. */
  followOrder(orderId: Hex, options?: FollowOptions): AsyncGenerator<OrderStatus, void, undefined>
  /** An order's events, oldest first. */
  getTimeline(orderId: Hex, signal?: AbortSignal): Promise<Timeline>
  /** Yields the timeline whenever it changes, until the order has ended. */
  followTimeline(orderId: Hex, options?: FollowOptions): AsyncGenerator<Timeline, void, undefined>
}

const TIMEOUT_MS = 15_000

/** Reads without a wallet, for a page that shows market and orders before one is connected. */
export function createReader(options: ReaderOptions): Reader {
  const deps = readerDeps(options)
  return readerOf(createViews(deps), createOrders(deps))
}

/** The dependencies of a reader, with defaults for absent options. */
export function readerDeps({
  serverUrl,
  timeoutMs = TIMEOUT_MS,
  timing = DEFAULT_TIMING,
  fetch,
}: ReaderOptions) {
  return { http: createHttp({ serverUrl, timeoutMs, fetch }), timing }
}

export function readerOf(views: Views, orders: Orders): Reader {
  return {
    views,
    getOrder: orders.get,
    followOrder: orders.follow,
    getTimeline: orders.timeline,
    followTimeline: orders.followTimeline,
  }
}
