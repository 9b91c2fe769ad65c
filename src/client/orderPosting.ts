// Orders and cancels, as the server takes them.
import * as z from 'zod/mini'
import { type OrderReceived, orderReceivedSchema } from '../protocol/api.js'
import type { PostCancel } from '../protocol/cancelIntent.js'
import type { Hex } from '../protocol/hex.js'
import { postOrderSchema } from '../protocol/postedOrder.js'
import { ClientError } from './errors.js'
import type { CallOptions, Http } from './http.js'
import { type RetryTiming, sleep, waitAfter, withRetries } from './retry.js'
import type { SubmittableOrder } from './sealedOrder.js'

export interface OrderPosting {
  /**
   * Posts the envelope, once its escrow is mined or with the signature that opens it. Anyone can post another envelope
   * under the same orderId first, so this posts again until the server holds ours. Idempotent.
   * @throws ClientError `commit-differs`, ServerError
   */
  submit(order: SubmittableOrder, options?: CallOptions): Promise<OrderReceived>
  /**
   * Posts a signed and sealed cancel. Idempotent.
   * @throws ServerError `order-not-found`, `not-order-account`, `order-ended`
   */
  cancel(orderId: Hex, cancel: PostCancel, options?: CallOptions): Promise<OrderReceived>
}

export function createOrderPosting(deps: {
  readonly http: Http
  readonly timing: RetryTiming
}): OrderPosting {
  const { http, timing } = deps
  const post = (path: string, body: unknown, signal?: AbortSignal) =>
    withRetries(() => http.post(path, body, orderReceivedSchema, { signal }), timing, signal)
  return {
    async submit(order, { signal } = {}) {
      const { orderId, envelope, opening } = order
      const body = z.encode(postOrderSchema, { orderId, ...envelope, ...(opening && { opening }) })
      for (let attempt = 1; attempt <= timing.attempts; attempt++) {
        const received = await post('/orders', body, signal)
        if (received.orderId === order.orderId && received.commit === order.commit) return received
        await sleep(waitAfter(attempt, timing), signal)
      }
      throw new ClientError('commit-differs', "The server keeps another envelope under this order's id.")
    },
    async cancel(orderId, { ...body }, { signal } = {}) {
      const received = await post(`/orders/${orderId}/cancel`, body, signal)
      if (received.orderId === orderId) return received
      throw new ClientError('unexpected-answer', 'The server answered with another order.')
    },
  }
}
