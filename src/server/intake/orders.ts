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
   * @throws Problem `chain-unavailable` when only the chain could tell whether to keep it, `intake-full`; StorageError
   */
  receive(order: PostOrder): Promise<OrderReceived>
  /** @throws Problem `order-not-found`; StorageError, ChainUnavailableError */
  status(orderId: Hex): Promise<OrderStatus>
}

export interface OrdersDeps {
  readonly records: OrderRecords
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  /** An envelope with this commit has been stored. */
  readonly onStored: (orderId: Hex, commit: Hex) => void
  /** Whether another order may be stored whose escrow is not known to be open. */
  readonly hasRoom: () => boolean
  /** The escrow, as far as it is known without asking the chain. */
  readonly knownEscrow: (orderId: Hex) => EscrowKnowledge | undefined
}

export function createOrders({ records, escrow, onStored, hasRoom, knownEscrow }: OrdersDeps): Orders {
  async function askChain(orderId: Hex): Promise<EscrowKnowledge> {
    try {
      return await escrow.orders(orderId)
    } catch {
      // Whatever is wrong with the node: an envelope that might be the right one is kept until it can be told.
      return 'unknown'
    }
  }

  /** Undefined when the chain has to be asked first; nothing is changed then. */
  async function receiveKnowing(
    orderId: Hex,
    offered: Candidate,
    escrowKnown: EscrowKnowledge | undefined,
  ): Promise<OrderReceived | undefined> {
    let answer: OrderReceived | undefined
    await records.update(orderId, (current) => {
      const known = escrowKnown ?? seenEscrow(current)
      if (current === undefined && (hasRoom() || isOpen(known))) {
        answer = answerOf(orderId, 'received', offered)
        return { ...emptyOrderRecord(orderId), candidates: [offered] }
      }
      const identical = findIdentical(current, offered.envelope)
      if (identical !== undefined) answer = answerOf(orderId, 'already-received', identical)
      if (identical !== undefined || known === undefined) return current
      if (current === undefined) throw new Problem('intake-full')
      const placed = place(current, offered, known)
      answer = placed.answer
      return placed.record
    })
    return answer
  }

  return {
    async receive({ orderId, ...envelope }) {
      const commit = commitOf(envelope)
      const offered: Candidate = { envelope, commit, receivedAt: new Date().toISOString() }
      // The chain is asked only when it matters, and never while other envelopes of the order wait for the record.
      const answer =
        (await receiveKnowing(orderId, offered, knownEscrow(orderId))) ??
        (await receiveKnowing(orderId, offered, await askChain(orderId)))
      if (answer === undefined) throw new Problem('chain-unavailable')
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

/** @throws Problem `chain-unavailable` */
function place(
  record: OrderRecord,
  offered: Candidate,
  escrow: EscrowKnowledge,
): { readonly record: OrderRecord; readonly answer: OrderReceived } {
  const { orderId, candidates } = record
  const decision = decideEnvelope(record, offered.commit, escrow)
  if (decision === 'undecided') throw new Problem('chain-unavailable')
  if (decision === 'add' || decision === 'replace') {
    const others = decision === 'add' ? candidates : []
    const answer = answerOf(orderId, 'received', offered)
    return { record: { ...record, candidates: [...others, offered] }, answer }
  }
  const kept = matchingCandidate(record, decision.kept) ?? offered
  return { record, answer: answerOf(orderId, 'already-received', kept) }
}

/** What an earlier run has seen, when the envelope that it was given is stored: no other can take its place. */
function seenEscrow(record: OrderRecord | undefined): EscrowKnowledge | undefined {
  const commit = record?.escrowCommit ?? null
  if (commit === null || matchingCandidate(record, commit) === undefined) return undefined
  return { state: 'OPEN', commit }
}

function isOpen(escrow: EscrowKnowledge | undefined): boolean {
  return escrow !== undefined && escrow !== 'unknown' && escrow.state === 'OPEN'
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
