import { createOrderEscrow, usdcDomain } from '../../chain/contracts.js'
import { encodeOpeningCall } from '../../chain/openingCall.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import { ProtocolError } from '../../protocol/errors.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { type OrderOpening, openingDigest } from '../../protocol/opening.js'
import { assertSignedBy } from '../../protocol/signature.js'
import { createTimedValue } from '../../service/waiting.js'
import { RelayRefusal, type VerifiedAuthorization } from './authorization.js'

/**
 * Checks that the account signed the opening, and makes the call of it.
 * @throws RelayRefusal `invalid-opening`; ChainUnavailableError, ChainAnswerError until USDC's domain was read once
 */
export type VerifyOpening = (order: OrderOpening, signature: Hex) => Promise<VerifiedAuthorization>

/** Asks for USDC and its domain once. */
export function createOpeningVerifier(rpc: Pick<Rpc, 'send'>, domain: IntentDomain): VerifyOpening {
  const caller = createViewCaller(rpc)
  const place = createTimedValue(Number.POSITIVE_INFINITY, async () => {
    const usdc = await createOrderEscrow(caller, domain.escrow).usdc()
    return { ...domain, usdc: await usdcDomain(caller, usdc) }
  })
  return async (order, signature) => {
    const known = await place()
    const { account, amount } = order
    const digest = openingDigest(order, known)
    try {
      assertSignedBy(account, digest, signature)
    } catch (error) {
      if (error instanceof ProtocolError) throw new RelayRefusal({ code: 'invalid-opening' }, error)
      throw error
    }
    return {
      digest,
      primaryType: amount > 0n ? 'BuyOpening' : 'RequestOpening',
      target: known.escrow,
      data: encodeOpeningCall(order, signature),
      purpose: { kind: 'account', account },
    }
  }
}
