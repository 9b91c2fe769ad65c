import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { OrderReceived, OrderStatus, PostOrder } from '../../protocol/api.js'
import { commitOf } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'
import {
  type Candidate,
  emptyOrderRecord,
  matchingCandidate,
  type OrderRecord,
  type OrderRecords,
} from '../store/orderRecords.js'
import { decideEnvelope, type EscrowKnowledge, findIdentical } from './envelopeDecision.js'

/** Taking in sealed orders, and telling what became of them. */
export interface Orders {
  /**
   * Stores an envelope, then has it run; resolves once it is durable.
   * @throws Problem `storage-unavailable`, `chain-unavailable` when only the chain could tell whether to keep it
   */
  receive(order: PostOrder): Promise<OrderReceived>
  /** @throws Problem `order-not-found`, `storage-unavailable`; ChainUnavailableError */
  status(orderId: Hex): Promise<OrderStatus>
}

export interface OrdersDeps {
  readonly records: OrderRecords
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  /** An envelope with this commit has been stored. */
  readonly onStored: (orderId: Hex, commit: Hex) => void
}

export function createOrders({ records, escrow, onStored }: OrdersDeps): Orders {
  async function askChain(orderId: Hex): Promise<EscrowKnowledge> {
    try {
      return await escrow.orders(orderId)
    } catch {
      // Whatever is wrong with the node: an envelope that might be the right one is kept until it can be told.
      return 'unknown'
    }
  }

  return {
    async receive({ orderId, ...envelope }) {
      const offered: Candidate = {
        envelope,
        commit: commitOf(envelope),
        receivedAt: new Date().toISOString(),
      }
      let answer = answerOf(orderId, 'received', offered)
      await records.update(orderId, async (current) => {
        if (current === undefined) return { ...emptyOrderRecord(orderId), candidates: [offered] }
        const identical = findIdentical(current, envelope)
        if (identical !== undefined) {
          answer = answerOf(orderId, 'already-received', identical)
          return current
        }
        const decision = decideEnvelope(current, offered.commit, await askChain(orderId))
        if (decision === 'undecided') throw new Problem('chain-unavailable')
        if (decision === 'add') return { ...current, candidates: [...current.candidates, offered] }
        if (decision === 'replace') return { ...current, candidates: [offered] }
        answer = answerOf(orderId, 'already-received', matchingCandidate(current, decision.kept) ?? offered)
        return current
      })
      if (answer.result === 'received') onStored(orderId, answer.commit)
      return answer
    },

    async status(orderId) {
      const [order, record] = await Promise.all([escrow.orders(orderId), records.get(orderId)])
      if (order.state === 'NONE' && record === undefined) throw new Problem('order-not-found')
      return statusOf(orderId, order, record)
    },
  }
}

function answerOf(orderId: Hex, result: OrderReceived['result'], stored: Candidate): OrderReceived {
  return { orderId, result, commit: stored.commit, receivedAt: stored.receivedAt }
}

function statusOf(orderId: Hex, order: EscrowedOrder, record: OrderRecord | undefined): OrderStatus {
  const isOnChain = order.state !== 'NONE'
  // Once the escrow tells which envelope is the order's, the time of another one says nothing.
  const candidate = isOnChain ? matchingCandidate(record, order.commit) : record?.candidates[0]
  return {
    orderId,
    state: order.state,
    account: isOnChain ? order.account : null,
    amount: isOnChain ? order.amount : null,
    deadline: isOnChain ? new Date(order.deadline * 1_000).toISOString() : null,
    commit: isOnChain ? order.commit : null,
    receivedAt: candidate?.receivedAt ?? null,
    triggers: record?.triggers ?? [],
    nextTriggerAt: record?.nextTriggerAt ?? null,
    // The run that settled it may have been cut off before it could clear what an earlier one left.
    notice: order.state === 'SETTLED' ? null : (record?.notice ?? null),
  }
}
