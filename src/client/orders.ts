import * as z from 'zod'
import {
  type OrderReceived,
  type OrderStatus,
  orderReceivedSchema,
  orderStatusSchema,
  postOrderSchema,
} from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { ClientError } from './errors.js'
import type { Http, Tagged } from './http.js'
import type { SealedOrder } from './orderIntent.js'
import { type RetryTiming, sleep, waitAfter, withRetries } from './retry.js'

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
  /** Between two questions; default 2 seconds. */
  readonly pollMs?: number | undefined
}

/** Orders at the server. Aborting rejects with the signal's reason. */
export interface Orders {
  /**
   * Posts the envelope, once its escrow is mined. Anyone can post another one under the same orderId first, so this
   * posts again until the server holds ours. Safe to repeat.
   * @throws ClientError `commit-differs`, ServerError
   */
  submit(
    order: Pick<SealedOrder, 'orderId' | 'envelope' | 'commit'>,
    signal?: AbortSignal,
  ): Promise<OrderReceived>
  /** @throws ServerError `order-not-found` when neither chain nor server knows it */
  get(orderId: Hex, signal?: AbortSignal): Promise<OrderStatus>
  /**
   * Yields the order's status, and again whenever it has changed, until it is settled or refunded. After a refund it
   * goes on for a while, until the notice with the reason is there.
   */
  follow(orderId: Hex, options?: FollowOptions): AsyncGenerator<OrderStatus, void, undefined>
}

export interface OrdersDeps {
  readonly http: Http
  readonly timing: RetryTiming
}

const DEFAULT_POLL_MS = 2_000
/** The run that refunds an order ends, and hands its notice over, shortly after the refund shows on chain. */
const NOTICE_GRACE_MS = 60_000

export function createOrders({ http, timing }: OrdersDeps): Orders {
  const pathOf = (orderId: Hex) => `/orders/${orderId}`
  const retried = <T>(send: () => Promise<T>, signal?: AbortSignal) => withRetries(send, timing, signal)

  async function submit(order: Parameters<Orders['submit']>[0], signal?: AbortSignal) {
    const body = z.encode(postOrderSchema, { orderId: order.orderId, ...order.envelope })
    for (let attempt = 1; attempt <= timing.attempts; attempt++) {
      const received = await retried(
        () => http.post('/orders', body, orderReceivedSchema, { signal }),
        signal,
      )
      if (received.orderId === order.orderId && received.commit === order.commit) return received
      await sleep(waitAfter(attempt, timing), signal)
    }
    throw new ClientError('commit-differs', "The server keeps another envelope under this order's id.")
  }

  function ask(orderId: Hex, etag: string | null, signal?: AbortSignal) {
    const send = () => http.getIfChanged(pathOf(orderId), orderStatusSchema, etag, { signal })
    return retried<Tagged<OrderStatus> | 'unchanged'>(send, signal)
  }

  async function* follow(orderId: Hex, { signal, pollMs = DEFAULT_POLL_MS }: FollowOptions = {}) {
    let etag: string | null = null
    let finalSince: number | null = null
    for (;;) {
      const answer = await ask(orderId, etag, signal)
      if (answer !== 'unchanged') {
        etag = answer.etag
        yield answer.body
        if (isComplete(answer.body)) return
        if (isFinal(answer.body)) finalSince ??= Date.now()
      }
      if (finalSince !== null && Date.now() - finalSince > NOTICE_GRACE_MS) return
      await sleep(pollMs, signal)
    }
  }

  return {
    submit,
    get: (orderId, signal) => retried(() => http.get(pathOf(orderId), orderStatusSchema, { signal }), signal),
    follow,
  }
}

function isFinal({ state }: OrderStatus): boolean {
  return state === 'SETTLED' || state === 'REFUNDED'
}

/** Final, with no notice to wait for: the portfolio is written in the settlement itself. */
function isComplete(status: OrderStatus): boolean {
  if (status.state === 'SETTLED') return true
  const running = status.triggers.some(({ finishedAt }) => finishedAt === null)
  return status.state === 'REFUNDED' && (status.notice !== null || !running)
}
