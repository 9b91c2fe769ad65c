import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { OrderStatus } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'
import type { OrderSummary } from '../store/orderRecords.js'

export interface OrderStatusDeps {
  /** At the chain's head; the very same object as long as that is the head. */
  readonly escrowed: (orderId: Hex) => Promise<EscrowedOrder>
  /** The very same object as long as the record is. */
  readonly summaryOf: (orderId: Hex) => Promise<OrderSummary | undefined>
}

/**
 * What became of an order, by chain and record. The very same object again as long as neither has changed.
 *
 * The function throws Problem `order-not-found`; StorageError, ChainUnavailableError, ChainAnswerError.
 */
export function createOrderStatus({ escrowed, summaryOf }: OrderStatusDeps) {
  const known = new WeakMap<EscrowedOrder, { readonly of: OrderSummary | undefined; status: OrderStatus }>()
  return async (orderId: Hex): Promise<OrderStatus> => {
    const [order, summary] = await Promise.all([escrowed(orderId), summaryOf(orderId)])
    if (order.state === 'NONE' && summary === undefined) throw new Problem('order-not-found')
    const before = known.get(order)
    if (before !== undefined && before.of === summary) return before.status
    const status = statusOf(orderId, order, summary)
    known.set(order, { of: summary, status })
    return status
  }
}

function statusOf(orderId: Hex, order: EscrowedOrder, summary: OrderSummary | undefined): OrderStatus {
  const isOnChain = order.state !== 'NONE'
  // Once the escrow tells which envelope is the order's, the time of another one says nothing.
  const candidate = isOnChain
    ? summary?.candidates.find(({ commit }) => commit === order.commit)
    : summary?.candidates[0]
  return {
    orderId,
    state: order.state,
    account: isOnChain ? order.account : null,
    amount: isOnChain ? order.amount : null,
    deadline: isOnChain ? new Date(order.deadline * 1_000).toISOString() : null,
    commit: isOnChain ? order.commit : null,
    receivedAt: candidate?.receivedAt ?? null,
    triggers: summary?.triggers ?? [],
    nextTriggerAt: summary?.nextTriggerAt ?? null,
    notice: isOutdated(order, summary) ? null : (summary?.notice ?? null),
  }
}

/** The run that settled an order may have been cut off before it could replace what an earlier one left. */
function isOutdated({ state }: EscrowedOrder, summary: OrderSummary | undefined): boolean {
  return state === 'SETTLED' && !summary?.triggers.some(({ outcome }) => outcome === 'settled')
}
