import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { OrderReceived, PostOrder } from '../../protocol/api.js'
import { commitOf } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'
import type { Candidate, OrderRecord, OrderRecords } from '../store/orderRecords.js'
import type { UnopenedRoom } from '../trigger/envelopeQuota.js'
import type { EscrowKnowledge } from './envelopeDecision.js'
import { isOpen, type Reception, receive } from './reception.js'

/** Taking in sealed orders. */
export interface Orders {
  /**
   * Stores an envelope, then has it run; resolves once it is durable.
   * @param client who posts it: see `clientOf`
   * @throws Problem `chain-unavailable` when only the chain could tell whether to keep it, `intake-full`,
   * `too-many-waiting`; StorageError
   */
  receive(order: PostOrder, client: string): Promise<OrderReceived>
}

export interface OrdersDeps {
  readonly records: OrderRecords
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  /** The chain has just said that there is an escrow. */
  readonly onEscrowSeen: () => void
  /** An envelope with this commit has been stored. */
  readonly onStored: (orderId: Hex, commit: Hex) => void
  /** For envelopes whose escrow is not known to be open. */
  readonly room: Pick<UnopenedRoom, 'refusal' | 'take'>
  /** The escrow, as far as it is known without asking the chain. */
  readonly knownEscrow: (orderId: Hex) => EscrowKnowledge | undefined
}

export function createOrders(deps: OrdersDeps): Orders {
  const { records, escrow, onEscrowSeen, onStored, room, knownEscrow } = deps

  /**
   * Orders with an open escrow of which an envelope failed to be written. It may be found when it is posted again, and
   * nobody has been told of it.
   */
  const untold = new Set<Hex>()

  async function askChain(orderId: Hex): Promise<EscrowKnowledge> {
    try {
      const order = await escrow.orders(orderId)
      if (order.state !== 'NONE') onEscrowSeen()
      return order
    } catch {
      // Whatever is wrong with the node: an envelope that might be the right one is kept until it can be told.
      return 'unknown'
    }
  }

  async function tryToReceive(
    orderId: Hex,
    offered: Candidate,
    client: string,
    escrowKnown: EscrowKnowledge | undefined,
  ): Promise<Reception['answer']> {
    const isKnownOpen = isOpen(escrowKnown)
    let answer: Reception['answer'] = 'ask-chain'
    let giveBack = () => {}
    try {
      const change = (current: OrderRecord | undefined) => {
        // It is called again when another server, or the trigger of this one, has changed the record in between.
        giveBack()
        // One that is open needs no room, and nothing of it is measured.
        const occupant = isKnownOpen ? undefined : { client, bytes: bytesWith(current, offered) }
        const refusal = occupant && room.refusal(orderId, occupant)
        const reception = receive({ orderId, current, offered, escrow: escrowKnown, refusal })
        // Taken before it is written: of many at once, no more are let in than fit.
        if (occupant && reception.record !== current) giveBack = room.take(orderId, occupant)
        answer = reception.answer
        return reception.record
      }
      await records.update(orderId, change, isKnownOpen)
    } catch (error) {
      giveBack()
      // As it is now: whoever sees the escrow open from here on finds what there is.
      if (isOpen(knownEscrow(orderId))) untold.add(orderId)
      throw error
    }
    return answer
  }

  return {
    async receive({ orderId, ...envelope }, client) {
      const commit = commitOf(envelope)
      const offered: Candidate = { envelope, commit, receivedAt: new Date().toISOString() }
      // The chain is asked only when it matters, and never while other envelopes of the order wait for the record.
      let answer = await tryToReceive(orderId, offered, client, knownEscrow(orderId))
      if (answer === 'ask-chain') {
        answer = await tryToReceive(orderId, offered, client, await askChain(orderId))
      }
      if (answer === 'full') throw new Problem('intake-full')
      if (answer === 'client-full') throw new Problem('too-many-waiting')
      if (typeof answer === 'string') throw new Problem('chain-unavailable')
      if (untold.delete(orderId) || answer.result === 'received') onStored(orderId, answer.commit)
      return answer
    },
  }
}

/**
 * What the order's file grows by at most: a version of its record is added, with all envelopes in it. One that takes the
 * place of the others is charged with them, too, until its escrow is seen.
 */
function bytesWith(record: OrderRecord | undefined, offered: Candidate): number {
  return [...(record?.candidates ?? []), offered].reduce(
    (sum, candidate) => sum + JSON.stringify(candidate).length,
    0,
  )
}
