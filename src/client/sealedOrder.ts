// An order whose intent is signed and sealed, as it is kept, opened and submitted.
import type { Envelope } from '../protocol/envelope.js'
import type { Hex } from '../protocol/hex.js'
import type { Intent } from '../protocol/intent.js'
import type { PostedOpening } from '../protocol/postedOpening.js'
import { ClientError, TradingError } from './errors.js'

/** An order ready for its escrow to be opened and its envelope to be posted. `intent` is confidential. */
export interface SealedOrder {
  readonly orderId: Hex
  readonly intent: Intent
  readonly envelope: Envelope
  /** Opens this envelope and no other: whoever has it reads the order. Of use for a receipt (`createReceipt`). */
  readonly contentKey: Hex
  /** `keccak256(ct)`. */
  readonly commit: Hex
  /** USDC base units that the escrow takes; 0 for every order except a BUY from the wallet and a DEPOSIT of USDC. */
  readonly escrowed: bigint
  /** The wallet's signature that opens the escrow, no matter who sends it; absent where the wallet's transaction needs none. */
  readonly opening?: PostedOpening | undefined
}

/** An order whose opening the wallet has signed. */
export type SignedOrder = Pick<SealedOrder, 'orderId' | 'commit'> & { readonly opening: PostedOpening }

/** An order as the server takes it. */
export type SubmittableOrder = Pick<SealedOrder, 'orderId' | 'envelope' | 'commit' | 'opening'>

/**
 * Whether the wallet has signed the order's opening.
 * @example if (isSignedOrder(order)) await client.openOrder(order)
 */
export function isSignedOrder<T extends Pick<SealedOrder, 'opening' | 'orderId' | 'commit'>>(
  order: T,
): order is T & SignedOrder {
  return order.opening !== undefined
}

/**
 * The escrow is open but the envelope did not reach the server, so the order cannot start. Pass `order` to
 * `submitOrder` again; otherwise its USDC stays in escrow until it can be reclaimed.
 */
export class NotSubmittedError extends ClientError {
  override readonly name = 'NotSubmittedError'

  constructor(
    readonly order: SealedOrder,
    cause: unknown,
  ) {
    const message = 'the escrow is open, but the sealed order did not reach the server: submit it again'
    const requestId = cause instanceof TradingError ? cause.requestId : null
    super('not-submitted', message, { cause, requestId })
  }
}
