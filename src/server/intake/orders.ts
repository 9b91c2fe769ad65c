import type { EscrowedOrder } from '../../chain/contracts.js'
import type { OrderReceived, PostOrder } from '../../protocol/api.js'
import { commitOf } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import type { Candidate, OrderRecord, OrderRecords } from '../store/orderRecords.js'
import type { UnopenedRoom } from '../trigger/envelopeQuota.js'
import type { EscrowKnowledge } from './reception.js'
import { isOpen, type Reception, receive } from './reception.js'

/** Why an envelope was not stored. */
export type NotReceived = Extract<Reception['answer'], string>

/** The intake of sealed orders. */
export interface Orders {
  /**
   * Stores an envelope, then has it run; resolves once it is durable, or with the reason why it was not stored.
   * @param client the poster, see `clientOf`
   * @param needsRoom whether the envelope counts on the client's quota while its escrow is not known to be open
   * @throws StorageError
   */
  receive(
    order: Omit<PostOrder, 'opening'>,
    client: string,
    options?: { readonly needsRoom: boolean },
  ): Promise<OrderReceived | NotReceived>
}

interface OrdersDeps {
  readonly records: OrderRecords
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  /** Called when the chain has just shown an escrow. */
  readonly onEscrowSeen: () => void
  /** Called when an envelope with this commit has been stored. */
  readonly onStored: (orderId: Hex, commit: Hex) => void
  /** For envelopes whose escrow is not known to be open. */
  readonly room: Pick<UnopenedRoom, 'refusal' | 'take'>
  /** The escrow, as far as it is known without asking the chain. */
  readonly knownEscrow: (orderId: Hex) => EscrowKnowledge | undefined
}

export function createOrders(deps: OrdersDeps): Orders {
  const { records, escrow, onEscrowSeen, onStored, room, knownEscrow } = deps

  /**
   * Orders with an open escrow and an envelope whose write failed. A lost answer may hide that it was stored, and then
   * `onStored` was not called for it.
   */
  const unreported = new Set<Hex>()

  async function askChain(orderId: Hex): Promise<EscrowKnowledge> {
    try {
      const order = await escrow.orders(orderId)
      if (order.state !== 'NONE') onEscrowSeen()
      return order
    } catch {
      // Whatever is wrong with the node, an envelope that might be the right one is kept.
      return 'unknown'
    }
  }

  /** @param client undefined for an envelope that needs no room */
  async function tryToReceive(
    orderId: Hex,
    offered: Candidate,
    client: string | undefined,
    escrowKnown: EscrowKnowledge | undefined,
  ): Promise<Reception['answer']> {
    const isKnownOpen = isOpen(escrowKnown)
    let answer: Reception['answer'] = 'ask-chain'
    let giveBack = () => {}
    try {
      const change = (current: OrderRecord | undefined) => {
        // Called again when another server, or this server's trigger, has changed the record in between.
        giveBack()
        // An order with an open escrow needs no room.
        const takesNone = isKnownOpen || client === undefined
        const occupant = takesNone ? undefined : { client, bytes: bytesWith(current, offered) }
        const refusal = occupant && room.refusal(orderId, occupant)
        const reception = receive({ orderId, current, offered, escrow: escrowKnown, refusal })
        // Taken before the write, so that concurrent envelopes cannot exceed the room.
        if (occupant && reception.record !== current) giveBack = room.take(orderId, occupant)
        answer = reception.answer
        return reception.record
      }
      await records.update(orderId, change, isKnownOpen)
    } catch (error) {
      giveBack()
      // By the escrow's present state: a reader that sees it open later finds what is stored.
      if (isOpen(knownEscrow(orderId))) unreported.add(orderId)
      throw error
    }
    return answer
  }

  return {
    async receive({ orderId, ...envelope }, poster, { needsRoom } = { needsRoom: true }) {
      const client = needsRoom ? poster : undefined
      const commit = commitOf(envelope)
      const offered: Candidate = { envelope, commit, receivedAt: new Date().toISOString() }
      // Asks the chain only when it matters, and never while other envelopes of the order wait for the record.
      let answer = await tryToReceive(orderId, offered, client, knownEscrow(orderId))
      if (answer === 'ask-chain') {
        answer = await tryToReceive(orderId, offered, client, await askChain(orderId))
      }
      if (typeof answer === 'string') return answer
      if (unreported.delete(orderId) || answer.result === 'received') onStored(orderId, answer.commit)
      return answer
    },
  }
}

/**
 * The most bytes by which a write may grow the order's record, which holds all its envelopes. An envelope that replaces the
 * others is charged with them until its escrow is seen.
 */
function bytesWith(record: OrderRecord | undefined, offered: Candidate): number {
  return [...(record?.candidates ?? []), offered].reduce(
    (sum, candidate) => sum + JSON.stringify(candidate).length,
    0,
  )
}
