import type { OrderStatus } from '../protocol/api.js'
import { ProtocolError } from '../protocol/errors.js'
import { type Notice, openNotice as openSealed } from '../protocol/notice.js'
import { ClientError } from './errors.js'
import type { Keyring } from './keyring.js'

/**
 * Opens an order's notice: why it was refused, or its fill with fees (`filled`). Null while the server has none. A
 * refund can lack a notice if no key in the envelope could be trusted, or if the server lost its cache.
 * @throws ClientError `notice-undecryptable` if the notice is another order's, or sealed to a key that is not held
 */
export async function openNotice(
  status: Pick<OrderStatus, 'orderId' | 'notice'>,
  keys: Pick<Keyring, 'opened'>,
): Promise<Notice | null> {
  const { notice, orderId } = status
  if (notice === null) return null
  try {
    return await keys.opened(({ privateKey }) => openSealed(notice, privateKey, orderId))
  } catch (cause) {
    if (!(cause instanceof ProtocolError)) throw cause
    const message = 'No imported or derived key opens the notice: it was sealed to another key, or altered.'
    throw new ClientError('notice-undecryptable', message, { cause })
  }
}
