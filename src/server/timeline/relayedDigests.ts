import { orderOfCall } from '../../chain/authorizationCall.js'
import type { PrimaryType } from '../../protocol/authorizationTypes.js'
import type { Hex } from '../../protocol/hex.js'
import { createRecentMap } from '../../service/recentMap.js'
import type { RelayDesk } from '../relay/desk.js'

/** Which authorizations the relay took on for which order: those that settle or refund it name it. */
export interface RelayedDigests {
  /** In the order in which they came, each once. */
  of(orderId: Hex): readonly Hex[]
  /** The same relay; what it takes on is noted. */
  observed<R extends Pick<RelayDesk, 'post'>>(relay: R): R
}

/** A write-ahead names its order as well, and ends nothing. */
const ENDS: ReadonlySet<PrimaryType> = new Set(['OrderSettlement', 'OrderRefund'])

/** An order has one, or a few more when others of its account come between. */
const ORDERS = 10_000

/**
 * Kept in memory: writing more than the receipt would make every authorization slower. A run's end puts them into the
 * order's record, and what took effect is on the chain.
 */
export function createRelayedDigests(): RelayedDigests {
  const digests = createRecentMap<Hex, readonly Hex[]>(ORDERS)
  const of = (orderId: Hex) => digests.get(orderId) ?? []
  return {
    of,
    observed: (relay) => ({
      ...relay,
      async post(authorization) {
        const job = await relay.post(authorization)
        const { digest, primaryType, data } = authorization
        const orderId = ENDS.has(primaryType) ? orderOfCall(primaryType, data) : null
        if (orderId !== null) digests.set(orderId, [...new Set([...of(orderId), digest])])
        return job
      },
    }),
  }
}
