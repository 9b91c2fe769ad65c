import type { EscrowedOrder } from '../../chain/contracts.js'
import { sameAddress } from '../../protocol/address.js'
import type { OrderReceived } from '../../protocol/api.js'
import { type PostCancel, sealedCancelDigest } from '../../protocol/cancelIntent.js'
import { commitOf } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import type { CancelRecord, OrderRecords } from '../store/orderRecords.js'
import { signerOf } from './signedJobs.js'

/** The intake of sealed cancels. */
export type Cancels = ReturnType<typeof createCancels>

export function createCancels(deps: {
  readonly domain: IntentDomain
  /** At the chain's head: asked for once a block and order, however many send cancels. */
  readonly escrowed: (orderId: Hex) => Promise<EscrowedOrder>
  readonly records: Pick<OrderRecords, 'update' | 'cancels'>
  /** Called when a cancel has been stored. */
  readonly onStored: (orderId: Hex, commit: Hex) => void
}) {
  const { domain, escrowed, records, onStored } = deps
  return {
    /**
     * Stores an order's cancel, then has the order run; resolves once it is durable, or with the reason why it was not stored. Only
     * the order's account can store one, so a stranger's junk takes no place.
     * @throws StorageError, ChainUnavailableError
     */
    async receive(
      orderId: Hex,
      { sig, ...envelope }: PostCancel,
    ): Promise<OrderReceived | 'order-not-found' | 'not-order-account' | 'order-ended'> {
      const signer = signerOf(sealedCancelDigest(orderId, envelope, domain), sig)
      if (signer === undefined) return 'not-order-account'
      const order = await escrowed(orderId)
      if (order.state === 'NONE') return 'order-not-found'
      if (!sameAddress(order.account, signer)) return 'not-order-account'
      if (order.state !== 'OPEN') {
        // A cancel that was answered once is answered again, although the order has ended since.
        const earlier = await records.cancels.get(orderId)
        return earlier === undefined ? 'order-ended' : answerOf(earlier, 'already-received')
      }
      const receivedAt = new Date().toISOString()
      const offered = { orderId, envelope, commit: commitOf(envelope), receivedAt }
      const { kept, isNews } = await records.cancels.keep(offered)
      if (!isNews) return answerOf(kept, 'already-received')
      // A new version of the order's record, so that its status is put together anew.
      await records.update(orderId, (current) => current && { ...current })
      onStored(orderId, kept.commit)
      return answerOf(kept, 'received')
    },
  }
}

function answerOf(
  { orderId, commit, receivedAt }: CancelRecord,
  result: OrderReceived['result'],
): OrderReceived {
  return { orderId, result, commit, receivedAt }
}
