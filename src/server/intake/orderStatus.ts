import type { EscrowedOrder } from '../../chain/contracts.js'
import type { OrderStatus } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { isToldByNotice } from '../../protocol/outcome.js'
import { matchingCandidate, type OrderSummary } from '../store/orderRecords.js'
import type { OpeningRecords } from '../store/receipts.js'

/**
 * Reads the state of an order from chain and record: the very same object as long as neither has changed, null for an
 * unknown order. One that is being opened is read anew each time.
 *
 * The function throws StorageError, ChainUnavailableError, ChainAnswerError.
 */
export function createOrderStatus(deps: {
  /** The state at the chain's head; the very same object as long as that is the head. */
  readonly escrowed: (orderId: Hex) => Promise<EscrowedOrder>
  /** The very same object as long as the record is. */
  readonly summaryOf: (orderId: Hex) => Promise<OrderSummary | undefined>
  readonly findOpening: OpeningRecords['receiptOf']
}) {
  const { escrowed, summaryOf, findOpening } = deps
  const known = new WeakMap<EscrowedOrder, { readonly of: OrderSummary | undefined; status: OrderStatus }>()
  return async (orderId: Hex): Promise<OrderStatus | null> => {
    const [order, summary] = await Promise.all([escrowed(orderId), summaryOf(orderId)])
    if (order.state === 'NONE') {
      if (summary === undefined) return null
      const opening = await findOpening(orderId)
      if (opening !== undefined) {
        const { status, error } = opening
        return { ...statusOf(orderId, order, summary), opening: { status, error } }
      }
    }
    const before = known.get(order)
    if (before !== undefined && before.of === summary) return before.status
    const status = statusOf(orderId, order, summary)
    known.set(order, { of: summary, status })
    return status
  }
}

function statusOf(orderId: Hex, order: EscrowedOrder, summary: OrderSummary | undefined): OrderStatus {
  const isOnChain = order.state !== 'NONE'
  // Once the escrow shows which envelope is the order's, the time of another one is meaningless.
  const candidate = isOnChain ? matchingCandidate(summary, order.commit) : summary?.candidates[0]
  const symbol = bytes32ToName(order.symbol)
  return {
    orderId,
    state: order.state,
    account: isOnChain ? order.account : null,
    amount: isOnChain ? order.amount : null,
    ...(symbol !== null && { deposit: { symbol, shares: order.shares } }),
    deadline: isOnChain ? new Date(order.deadline * 1_000).toISOString() : null,
    commit: isOnChain ? order.commit : null,
    receivedAt: candidate?.receivedAt ?? null,
    triggers: summary?.triggers ?? [],
    nextTriggerAt: summary?.nextTriggerAt ?? null,
    notice: isOutdated(order, summary) ? null : (summary?.notice ?? null),
    ...(summary?.cancelReceivedAt !== undefined && { cancelReceivedAt: summary.cancelReceivedAt }),
  }
}

/** The run that ended an order may go on, or have been cut off, before it replaced an earlier run's notice. */
function isOutdated({ state }: EscrowedOrder, summary: OrderSummary | undefined): boolean {
  const triggers = summary?.triggers ?? []
  if (state === 'SETTLED') return !triggers.some(({ outcome }) => outcome === 'settled')
  const last = triggers.findLast(({ outcome }) => outcome !== null)
  return state === 'REFUNDED' && isToldByNotice(last?.waitsFor)
}
