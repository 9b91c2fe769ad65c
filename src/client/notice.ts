import type { OrderStatus } from '../protocol/api.js'
import { type Notice, openNotice as open } from '../protocol/notice.js'
import type { PortfolioKey } from './portfolioKey.js'

/**
 * Why an order was refused. Null while the server has no notice: a refund can come without one, when nothing in the
 * envelope could be trusted, or when the server lost its cache.
 * @throws ProtocolError `undecryptable` when it is not this order's, or sealed to another key
 */
export async function openNotice(
  status: Pick<OrderStatus, 'orderId' | 'notice'>,
  key: PortfolioKey,
): Promise<Notice | null> {
  return status.notice && open(status.notice, key.privateKey, status.orderId)
}
