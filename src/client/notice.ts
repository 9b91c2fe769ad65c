import type { OrderStatus } from '../protocol/api.js'
import { type Notice, openNotice as open } from '../protocol/notice.js'
import type { Keyring } from './keyring.js'

/**
 * Why an order was refused, or what its fill came to, fees included (`filled`). Null while the server has no notice: a refund can come without one, when nothing in the
 * envelope could be trusted, or when the server lost its cache.
 * @throws ProtocolError `undecryptable` when it is not this order's, or sealed to a key that is not held
 */
export async function openNotice(
  status: Pick<OrderStatus, 'orderId' | 'notice'>,
  keys: Keyring,
): Promise<Notice | null> {
  const { notice, orderId } = status
  return notice && keys.opened(({ privateKey }) => open(notice, privateKey, orderId))
}
