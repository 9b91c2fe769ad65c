import { orderEnvelopeSchema } from '../../protocol/envelopeForm.js'
import { RECEIPT_VERSION, type Receipt } from '../../protocol/receipt.js'
import type { Platform } from '../platform.js'
import type { SealedOrder } from '../sealedOrder.js'

/**
 * The receipt of an order, which reveals its intent to every reader. Only the program that sealed the order knows its `contentKey`: keep
 * the receipt sealed (`sealForDevice`) until the owner gives it away.
 * @param order as `placeOrder` hands it to `beforeOpen`
 * @param platform as `getPlatform` returns it
 * @returns what `JSON.stringify` takes
 */
export function createReceipt(
  { orderId, envelope, contentKey }: Pick<SealedOrder, 'orderId' | 'envelope' | 'contentKey'>,
  { chainId, escrow }: Pick<Platform, 'chainId' | 'escrow'>,
): Receipt {
  const { iv, ct, tag } = orderEnvelopeSchema.parse(envelope)
  return { v: RECEIPT_VERSION, chainId, escrow, orderId, iv, ct, tag, contentKey }
}
