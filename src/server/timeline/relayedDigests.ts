import { orderOfCall } from '../../chain/authorizationCall.js'
import type { PrimaryType } from '../../protocol/authorizationTypes.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { RelayDesk } from '../relay/desk.js'
import { type OrderRecords, withDigest } from '../store/orderRecords.js'

/** A write-ahead names its order as well, and ends nothing. */
const ENDS: ReadonlySet<PrimaryType> = new Set(['OrderSettlement', 'OrderRefund'])

/**
 * The same relay; each authorization that it takes on to settle or refund an order is kept in the order's record. The caller does
 * not wait for that: a timeline without it lacks one entry, and what took effect is on the chain.
 */
export function keepDigests<R extends Pick<RelayDesk, 'post'>>(
  relay: R,
  { records, logger }: { readonly records: Pick<OrderRecords, 'update'>; readonly logger: Logger },
): R {
  return {
    ...relay,
    async post(authorization) {
      const job = await relay.post(authorization)
      const { digest, primaryType, data } = authorization
      const orderId = ENDS.has(primaryType) ? orderOfCall(primaryType, data) : null
      if (orderId === null) return job
      // A run has left a record of every order that is settled or refunded here.
      const kept = records.update(orderId, (current) => current && withDigest(current, digest))
      kept.catch((error: unknown) => {
        logger.warn('relayed digest not kept', { orderId, digest, ...describeError(error) })
      })
      return job
    },
  }
}
