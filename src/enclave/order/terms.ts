import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import type { Intent, Side } from '../../protocol/intent.js'
import type { OpenOrder } from '../../protocol/portfolio.js'

/** How an intent names cash in a withdrawal. */
export const USDC = 'USDC'

/** What an account wants: from its intent, or from its portfolio once the order is held. */
export interface OrderTerms {
  orderId: Hex
  account: Hex
  side: Side
  symbol: string
  /** USDC base units; share base units in a withdrawal of shares. */
  amount: bigint
  /** USDC base units in the escrow. */
  escrowed: bigint
  /** Unix seconds; the escrow's. */
  deadline: number
  /** The escrow's: the sealed intent that the order was opened for. */
  commit: Hex
}

/** What of an order's terms the escrow knows. */
export type BoundTerms = Pick<OrderTerms, 'orderId' | 'account' | 'escrowed' | 'commit'>

/** The order as every authorization names it that writes a portfolio for it, and as the escrow must have it then. */
export function boundTo({ orderId, account, escrowed, commit }: BoundTerms) {
  const asset = escrowed === 0n ? ZERO_BYTES32 : nameToBytes32(USDC)
  return { orderId, account, asset, amount: escrowed, commit }
}

/** What a new intent asks for. */
export function termsOfIntent(intent: Intent, escrow: EscrowedOrder): OrderTerms {
  const { orderId, side, symbol, maxSpend } = intent
  return { orderId, side, symbol, amount: maxSpend, ...ofEscrow(escrow) }
}

/** What an order that was written ahead asks for; it needs no envelope any more. */
export function termsOfEntry(orderId: Hex, entry: OpenOrder, escrow: EscrowedOrder): OrderTerms {
  return { orderId, side: entry.side, symbol: entry.symbol, amount: entry.notional, ...ofEscrow(escrow) }
}

/** What the escrow says of an order. */
export function termsOfEscrow(orderId: Hex, escrow: EscrowedOrder): BoundTerms {
  return { orderId, ...ofEscrow(escrow) }
}

function ofEscrow({ account, amount, deadline, commit }: EscrowedOrder) {
  return { account, escrowed: amount, deadline, commit }
}
