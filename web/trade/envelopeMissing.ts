import type { OrderStatus } from '../../src/client/index.js'
import { isUnknownOrder } from '../words/failures.js'
import { hasEnded } from './hasEnded.js'

type Answered = Pick<OrderStatus, 'state' | 'receivedAt'>

/**
 * Whether the server has said that it lacks the envelope of an order that is not over. As long as it has said nothing, or
 * could not say, it may well have it. `error` is why it has not answered yet, and counts while `status` is null.
 */
export function isEnvelopeMissing(status: Answered | null, error: unknown): boolean {
  if (status === null) return isUnknownOrder(error)
  return status.receivedAt === null && !hasEnded(status)
}
