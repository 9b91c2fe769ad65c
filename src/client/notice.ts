import type { OrderStatus } from '../protocol/api.js'
import { type Notice, openNotice as open } from '../protocol/notice.js'
import type { Keyring } from './keyring.js'

/**
 * Opens an order's notice: why it was refused, or its fill with fees (`filled`). Null while the server has none. A
 * refund can lack a notice if no key in the envelope could be trusted, or if the server lost its cache.
 * @throws ProtocolError `undecryptable` if the notice is another order's, or sealed to a key that is not held
 */
export async function openNotice(
  status: Pick<OrderStatus, 'orderId' | 'notice'>,
  keys: Keyring,
): Promise<Notice | null> {
  const { notice, orderId } = status
  return notice && keys.opened(({ privateKey }) => open(notice, privateKey, orderId))
}
