import {
  formatDecimal,
  type Hex,
  type OrderRequest,
  type Portfolio,
  type Side,
} from '../../src/client/index.js'
import type { Limit } from '../../src/protocol/orderTerms.js'
import { money } from '../words/format.js'
import { limitWords } from './review.js'
import { decimalsOf, isMove } from './ticketOrder.js'

/** The content of an order, as portfolio and history have it. */
export interface Ordered {
  readonly side: Side
  /** `USDC` for cash. */
  readonly symbol: string
  /** Base units, of the decimals that `decimalsOf` tells. */
  readonly amount: bigint
  readonly limit?: Limit | undefined
}

/** The page's knowledge of a wallet's orders beyond the chain. It is confidential, and stays in memory. */
export interface OrderMemory {
  /** Orders sealed by this page, newest first. */
  readonly placed: readonly Hex[]
  readonly ordered: ReadonlyMap<string, Ordered>
}

export const NO_ORDERS: OrderMemory = { placed: [], ordered: new Map() }

export function withPlaced({ placed, ordered }: OrderMemory, orderId: Hex, request: Ordered): OrderMemory {
  return {
    placed: [orderId, ...placed.filter((other) => other !== orderId)],
    ordered: new Map(ordered).set(orderId, request),
  }
}

export function orderedOf(request: OrderRequest): Ordered {
  const { side, symbol = 'USDC', usdc, shares, limit } = request
  return { side, symbol, amount: usdc ?? shares, ...(limit && { limit }) }
}

/** Adds the open orders of a portfolio. The portfolio drops ended orders; the memory keeps them. */
export function withOpenOrders(memory: OrderMemory, openOrders: Portfolio['openOrders']): OrderMemory {
  const unknown = Object.entries(openOrders).filter(([orderId]) => !memory.ordered.has(orderId))
  if (unknown.length === 0) return memory
  const ordered = new Map(memory.ordered)
  for (const [orderId, { side, symbol, notional, limit }] of unknown) {
    ordered.set(orderId, { side, symbol, amount: notional, limit })
  }
  return { ...memory, ordered }
}

/** `Buy AAPL for 1,000.00 USDC`, or `Buy AAPL for 1,000.00 USDC at 190.00 or less, until the close`. */
export function requestWords(request: Ordered): string {
  const { side, symbol, amount, limit } = request
  const verb = { BUY: 'Buy', SELL: 'Sell', DEPOSIT: 'Deposit', WITHDRAW: 'Withdraw' }[side]
  if (!isMove(side)) {
    const end = limit?.timeInForce === 'DAY' ? ', until the close' : ''
    const at = limit === undefined ? '' : ` ${limitWords(side, limit.price)}${end}`
    return `${verb} ${symbol} for ${money(amount)} USDC${at}`
  }
  return `${verb} ${formatDecimal(amount, decimalsOf(request))} ${symbol}`
}
