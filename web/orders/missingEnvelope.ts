import type { OrderStatus } from '../../src/client/index.js'
import { hasEnded } from '../../src/protocol/api.js'
import { isUnknownOrder } from '../words/failures.js'

type Answered = Pick<OrderStatus, 'state' | 'receivedAt'>

/**
 * Whether the server has reported that it lacks the envelope of an open order. Without an answer it may well have it.
 * `error` is the reason of a missing answer, and counts while `status` is null.
 */
export function isEnvelopeMissing(status: Answered | null, error: unknown): boolean {
  if (status === null) return isUnknownOrder(error)
  return status.receivedAt === null && !hasEnded(status)
}
