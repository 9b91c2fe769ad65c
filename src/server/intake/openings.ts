import { isFinal, type OrderReceived, type PostOrder } from '../../protocol/api.js'
import { commitOf } from '../../protocol/envelope.js'
import type { PostedOpening } from '../../protocol/postedOpening.js'
import type { RelayDesk } from '../relay/desk.js'
import type { VerifyOpening } from '../relay/opening.js'
import type { OpeningRecord, OpeningRecords } from '../store/openingRecords.js'
import type { ReceiptStore } from '../store/receipts.js'
import type { NotReceived, Orders } from './orders.js'

/** A posted order with the opening that its account signed. */
type SponsoredOrder = PostOrder & { readonly opening: PostedOpening }

/** The intake of orders whose escrows the relay opens. */
export interface Openings {
  /**
   * Checks the opening (signature, simulation, quota), then stores the envelope, then hands the opening to the relay. Resolves
   * once both are durable, or with the reason why nothing was stored. The same order again begins nothing.
   *
   * @param client the poster, see `clientOf`
   * @throws RelayRefusal, StorageError, ChainUnavailableError, ChainAnswerError
   */
  receive(order: SponsoredOrder, client: string): Promise<OrderReceived | NotReceived | 'opening-under-way'>
}

interface OpeningsDeps {
  readonly orders: Orders
  readonly verify: VerifyOpening
  readonly relay: Pick<RelayDesk, 'foresee' | 'post'>
  readonly receipts: Pick<ReceiptStore, 'get'>
  readonly records: OpeningRecords
}

/** After this long, an opening that is claimed and was not given to the relay is not on its way there any more. */
const CLAIM_MS = 60_000

export function createOpenings({ orders, verify, relay, receipts, records }: OpeningsDeps): Openings {
  async function isOver({ digest, at }: OpeningRecord): Promise<boolean> {
    const earlier = await receipts.get(digest)
    return earlier === undefined ? Date.now() - Date.parse(at) > CLAIM_MS : isFinal(earlier.receipt)
  }

  return {
    async receive({ opening: { sig, ...signed }, ...order }, client) {
      const commit = commitOf(order)
      const { orderId } = order
      const opening = await verify({ ...signed, orderId, commit }, sig)
      await relay.foresee(opening)
      if (!(await records.claim(orderId, opening.digest, isOver))) return 'opening-under-way'
      // Its account has KYC and pays with its gas quota, so the envelope takes none of the room that strangers can fill.
      const received = await orders.receive(order, client, { needsRoom: false })
      // The escrow must not open for an envelope that is not stored.
      if (typeof received === 'string' || received.commit !== commit) return received
      await relay.post(opening)
      return received
    },
  }
}
