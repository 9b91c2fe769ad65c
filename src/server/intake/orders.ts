import type { IsSignedBy } from '../../chain/accountSignature.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import type { OrderReceived } from '../../protocol/api.js'
import { type PostCancel, sealedCancelDigest } from '../../protocol/cancelIntent.js'
import { commitOf } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import type { PostedOpening } from '../../protocol/postedOpening.js'
import type { PostOrder } from '../../protocol/postedOrder.js'
import { isFinal } from '../../protocol/relayReceipt.js'
import type { createOpeningVerifier } from '../relay/authorization.js'
import type { RelayDispatcher } from '../relay/dispatcher.js'
import type { OpeningQuota } from '../relay/openingQuota.js'
import type { Candidate, OrderRecord, OrderRecords } from '../store/orderRecords.js'
import type { OpeningRecord, OpeningRecords, ReceiptStore } from '../store/receipts.js'
import type { UnopenedRoom } from '../trigger/envelopeQuota.js'
import { answerOf, decideEnvelope, type EscrowKnowledge, isOpen, type Reception } from './reception.js'

export type NotReceived = Extract<Reception['answer'], string>

export type Orders = ReturnType<typeof createOrders>

export function createOrders(deps: {
  readonly records: OrderRecords
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  readonly onEscrowSeen: () => void
  readonly onStored: (orderId: Hex, commit: Hex) => void
  readonly room: Pick<UnopenedRoom, 'refusal' | 'reserve'>
  /** The escrow, as far as it is known without asking the chain. */
  readonly knownEscrow: (orderId: Hex) => EscrowKnowledge | undefined
}) {
  const { records, escrow, onEscrowSeen, onStored, room, knownEscrow } = deps

  async function askChain(orderId: Hex): Promise<EscrowKnowledge> {
    try {
      const order = await escrow.orders(orderId)
      if (order.state !== 'NONE') onEscrowSeen()
      return order
    } catch {
      // The node's failure says nothing about the envelope, so the server keeps it: it may be the right one.
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
        const isExempt = isKnownOpen || client === undefined
        const occupant = isExempt ? undefined : { client, bytes: bytesWith(current, offered) }
        const refusal = occupant && room.refusal(orderId, occupant)
        const reception = decideEnvelope({ orderId, current, offered, escrow: escrowKnown, refusal })
        // Reserved before the write, so that concurrent envelopes cannot exceed the room.
        if (occupant && reception.record !== current) giveBack = room.reserve(orderId, occupant)
        answer = reception.answer
        return reception.record
      }
      await records.update(orderId, change)
    } catch (error) {
      giveBack()
      throw error
    }
    return answer
  }

  return {
    /**
     * Stores an envelope, then has it run; resolves once it is durable, or with the reason why it was not stored.
     * @param client the poster, see `clientOf`, on whose quota the envelope counts while its escrow is not known to be open; undefined: on nobody's
     * @throws StorageError
     */
    async receive(
      { orderId, ...envelope }: Omit<PostOrder, 'opening'>,
      client: string | undefined,
    ): Promise<OrderReceived | NotReceived> {
      const commit = commitOf(envelope)
      const offered: Candidate = { envelope, commit, receivedAt: new Date().toISOString() }
      // Asks the chain only when it matters, and never while other envelopes of the order wait for the record.
      let answer = await tryToReceive(orderId, offered, client, knownEscrow(orderId))
      if (answer === 'ask-chain') {
        answer = await tryToReceive(orderId, offered, client, await askChain(orderId))
      }
      if (typeof answer === 'string') return answer
      // An envelope that was there already may not have been reported: its write's answer was lost, or a killed server's write came late.
      const isTracked = knownEscrow(orderId) !== undefined
      if (isTracked || answer.result === 'received') onStored(orderId, answer.commit)
      return answer
    },
  }
}

/**
 * The most bytes by which a write may grow the order's record, which holds all its envelopes. An envelope that replaces the
 * others is charged with them until its escrow is seen.
 */
function bytesWith(record: OrderRecord | undefined, offered: Candidate): number {
  return JSON.stringify([...(record?.candidates ?? []), offered]).length
}

export type Openings = ReturnType<typeof createOpenings>

/** An opening that was claimed this long ago and not given to the relay is not on its way there any more. */
const CLAIM_MS = 60_000

export function createOpenings(deps: {
  readonly orders: Orders
  readonly verify: ReturnType<typeof createOpeningVerifier>
  readonly relay: Pick<RelayDispatcher, 'precheck' | 'post'>
  readonly quota: OpeningQuota
  readonly receipts: Pick<ReceiptStore, 'get'>
  readonly records: OpeningRecords
  /** Called with the account of an opening, once its signature and its membership are proved. */
  readonly onMember: (account: Hex) => void
}) {
  const { orders, verify, relay, quota, receipts, records, onMember } = deps

  async function isOver({ digest, at }: OpeningRecord): Promise<boolean> {
    const earlier = await receipts.get(digest)
    if (earlier !== undefined) return isFinal(earlier.receipt)
    // A time in the future is from before the clock was set back.
    return Math.abs(Date.now() - Date.parse(at)) > CLAIM_MS
  }

  return {
    /**
     * Checks the opening (signature, membership, simulation, quotas), then stores the envelope, then hands the opening to the relay. Resolves
     * once both are durable, or with the reason why nothing was stored. The same order again begins nothing.
     *
     * @throws RelayRefusal, StorageError, ChainUnavailableError, ChainAnswerError
     */
    async receive({
      opening: { sig, ...signed },
      ...order
    }: PostOrder & { readonly opening: PostedOpening }): Promise<
      OrderReceived | NotReceived | 'opening-under-way'
    > {
      const commit = commitOf(order)
      const { orderId } = order
      const opening = await verify({ ...signed, orderId, commit }, sig)
      await quota.assertMember(signed.account)
      onMember(signed.account)
      await relay.precheck(opening)
      await quota.reserve({ orderId, account: signed.account, digest: opening.digest })
      if (!(await records.claim(orderId, opening.digest, isOver))) return 'opening-under-way'
      // Its account has KYC and pays with its quotas, so the envelope uses none of the room that strangers can fill.
      const received = await orders.receive(order, undefined)
      // The escrow must not open for an envelope that is not stored.
      if (typeof received === 'string' || received.commit !== commit) return received
      await relay.post(opening)
      return received
    },
  }
}

export type Cancels = ReturnType<typeof createCancels>

export function createCancels(deps: {
  readonly domain: IntentDomain
  /** The state at the chain's head: asked for once a block and order, however many send cancels. */
  readonly escrowed: (orderId: Hex) => Promise<EscrowedOrder>
  /** Charged to the poster where it asks the chain. */
  readonly isSignedBy: IsSignedBy
  readonly records: Pick<OrderRecords, 'update' | 'cancels'>
  readonly onStored: (orderId: Hex, commit: Hex) => void
}) {
  const { domain, escrowed, isSignedBy, records, onStored } = deps
  return {
    /**
     * Stores an order's cancel, then has the order run; resolves once it is durable, or with the reason why it was not stored. Only
     * the order's account can store one, so a stranger's junk uses no place.
     * @throws StorageError, ChainUnavailableError
     */
    async receive(
      orderId: Hex,
      { sig, ...envelope }: PostCancel,
    ): Promise<OrderReceived | 'order-not-found' | 'not-order-account' | 'order-ended'> {
      const order = await escrowed(orderId)
      if (order.state === 'NONE') return 'order-not-found'
      const digest = sealedCancelDigest(orderId, envelope, domain)
      if (!(await isSignedBy(order.account, digest, sig))) return 'not-order-account'
      if (order.state !== 'OPEN') {
        // A cancel that was answered once is answered again, although the order has ended since.
        const earlier = await records.cancels.get(orderId)
        return earlier === undefined ? 'order-ended' : answerOf(orderId, 'already-received', earlier)
      }
      const receivedAt = new Date().toISOString()
      const offered = { orderId, envelope, commit: commitOf(envelope), receivedAt }
      const { kept, isNews } = await records.cancels.keep(offered)
      if (!isNews) return answerOf(orderId, 'already-received', kept)
      // A new version of the order's record, so that its status is put together anew.
      await records.update(orderId, (current) => current && { ...current })
      onStored(orderId, kept.commit)
      return answerOf(orderId, 'received', kept)
    },
  }
}
