import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { OrderReceived, PostOrder } from '../../protocol/api.js'
import { commitOf } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'
import type { Candidate, OrderRecords } from '../store/orderRecords.js'
import type { EscrowKnowledge } from './envelopeDecision.js'
import { isOpen, type Reception, receive } from './reception.js'

/** Taking in sealed orders. */
export interface Orders {
  /**
   * Stores an envelope, then has it run; resolves once it is durable.
   * @throws Problem `chain-unavailable` when only the chain could tell whether to keep it, `intake-full`; StorageError
   */
  receive(order: PostOrder): Promise<OrderReceived>
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

  async function tryToReceive(
    orderId: Hex,
    offered: Candidate,
    escrowKnown: EscrowKnowledge | undefined,
  ): Promise<Reception['answer']> {
    const update = isOpen(escrowKnown) ? records.updateOpen : records.update
    let answer: Reception['answer'] = 'ask-chain'
    await update(orderId, (current) => {
      const reception = receive({ orderId, current, offered, escrow: escrowKnown, hasRoom: hasRoom() })
      answer = reception.answer
      return reception.record
    })
    return answer
  }

  return {
    async receive({ orderId, ...envelope }) {
      const commit = commitOf(envelope)
      const offered: Candidate = { envelope, commit, receivedAt: new Date().toISOString() }
      // The chain is asked only when it matters, and never while other envelopes of the order wait for the record.
      let answer = await tryToReceive(orderId, offered, knownEscrow(orderId))
      if (answer === 'ask-chain') answer = await tryToReceive(orderId, offered, await askChain(orderId))
      if (answer === 'full') throw new Problem('intake-full')
      if (typeof answer === 'string') throw new Problem('chain-unavailable')
      if (answer.result === 'received') onStored(orderId, answer.commit)
      return answer
    },
  }
}
