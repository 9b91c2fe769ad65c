import { openedByCall } from '../../chain/openingCall.js'
import type { Receipt } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { OpeningRecords } from '../store/openingRecords.js'
import type { ReceiptStore } from '../store/receipts.js'

/** The receipt of the opening that the relay sends, or has sent last, for this order. Rejects with StorageError. */
export type FindOpening = (orderId: Hex) => Promise<Receipt | undefined>

export function createFindOpening(deps: {
  readonly openings: Pick<OpeningRecords, 'get'>
  readonly receipts: Pick<ReceiptStore, 'get'>
}): FindOpening {
  const { openings, receipts } = deps
  return async (orderId) => {
    const claim = await openings.get(orderId)
    const record = claim && (await receipts.get(claim.digest))
    // The claim is by the id's first 16 bytes, which another order may share.
    return record !== undefined && openedByCall(record.data)?.orderId === orderId ? record.receipt : undefined
  }
}
