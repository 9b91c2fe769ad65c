import type { OrderReceived } from '../protocol/api.js'
import {
  cancelIntentDigest,
  cancelIntentMessage,
  cancelIntentTypes,
  sealCancel,
  sealedCancelDigest,
  sealedCancelMessage,
  sealedCancelTypes,
} from '../protocol/cancelIntent.js'
import type { Hex } from '../protocol/hex.js'
import { intentDomain } from '../protocol/intentDomain.js'
import type { CallOptions } from './http.js'
import type { OrderPosting } from './orderPosting.js'
import type { Platform } from './platform.js'
import { signTyped } from './signTyped.js'
import type { Wallet } from './wallet.js'

/**
 * Signs a cancel of the wallet's own order, seals it to the enclave, signs the envelope and posts it. Requests two signatures.
 * @throws ClientError `signature-refused`, `signature-invalid`; ServerError `order-not-found`, `not-order-account`, `order-ended`
 */
export async function cancelOrder(
  orderId: Hex,
  deps: {
    readonly wallet: Wallet
    readonly platform: Platform
    readonly posting: Pick<OrderPosting, 'cancel'>
  },
  options?: CallOptions,
): Promise<OrderReceived> {
  const { wallet, platform, posting } = deps
  const domain = intentDomain(platform)
  const order = { orderId, account: await wallet.account() }
  const sig = await signTyped(wallet, {
    domain,
    types: cancelIntentTypes,
    message: cancelIntentMessage(order),
    digest: cancelIntentDigest(order, platform),
  })
  const envelope = await sealCancel({ ...order, sig }, platform.enclavePublicKey, platform)
  const outerSig = await signTyped(wallet, {
    domain,
    types: sealedCancelTypes,
    message: sealedCancelMessage(orderId, envelope),
    digest: sealedCancelDigest(orderId, envelope, platform),
  })
  return posting.cancel(orderId, { ...envelope, sig: outerSig }, options)
}
