import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import { sameAddress } from '../../protocol/address.js'
import type { Envelope } from '../../protocol/envelope.js'
import { type Hex, hexToBytes } from '../../protocol/hex.js'
import { type Intent, intentDigest, openIntent } from '../../protocol/intent.js'
import { assertSignedBy } from '../../protocol/signature.js'
import type { Run } from '../run.js'

/**
 * Opens an order's envelope. Null when what is inside can't be trusted: it does not open, is not an intent (`v` 1),
 * belongs to another order or account, or is not signed by the account's own key. A contract wallet has no key of
 * its own, so its orders end here.
 */
export async function unseal(
  run: Run,
  orderId: Hex,
  envelope: Envelope,
  escrow: EscrowedOrder,
): Promise<Intent | null> {
  try {
    const intent = await openIntent(envelope, hexToBytes(run.intentPrivateKey))
    if (intent.orderId !== orderId || !sameAddress(intent.account, escrow.account)) return null
    const { sig, ...unsigned } = intent
    const domain = { chainId: run.chain.chainId, escrow: run.chain.addresses.orderEscrow }
    assertSignedBy(escrow.account, intentDigest(unsigned, domain), sig)
    return intent
  } catch {
    return null
  }
}
