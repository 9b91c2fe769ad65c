import {
  formatDecimal,
  type Hex,
  type OrderRequest,
  type Portfolio,
  SHARE_DECIMALS,
  type Side,
  USDC_DECIMALS,
} from '../../src/client/index.js'
import type { Limit, OrderAmount } from '../../src/protocol/orderTerms.js'
import { money } from '../words/format.js'
import { limitWords } from './review.js'
import { isMove } from './ticketOrder.js'

/** The content of an order, as portfolio and history have it. */
export type Ordered = OrderAmount & {
  readonly side: Side
  /** `USDC` for cash. */
  readonly symbol: string
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
  return { side, symbol, ...(usdc === undefined ? { shares } : { usdc }), ...(limit && { limit }) }
}

/** Adds the open orders of a portfolio. The portfolio drops ended orders; the memory keeps them. */
export function withOpenOrders(memory: OrderMemory, openOrders: Portfolio['openOrders']): OrderMemory {
  const unknown = Object.entries(openOrders).filter(([orderId]) => !memory.ordered.has(orderId))
  if (unknown.length === 0) return memory
  const ordered = new Map(memory.ordered)
  for (const [orderId, { side, symbol, notional, limit }] of unknown) {
    ordered.set(orderId, { side, symbol, usdc: notional, limit })
  }
  return { ...memory, ordered }
}

/** `Buy AAPL for 1,000.00 USDC`, or `Buy AAPL for 1,000.00 USDC at 190.00 or less, until the close`. */
export function requestWords(request: Ordered): string {
  const { side, symbol, usdc, shares, limit } = request
  const verb = { BUY: 'Buy', SELL: 'Sell', DEPOSIT: 'Deposit', WITHDRAW: 'Withdraw' }[side]
  if (usdc === undefined) return `${verb} ${formatDecimal(shares, SHARE_DECIMALS)} ${symbol}`
  if (isMove(side)) return `${verb} ${formatDecimal(usdc, USDC_DECIMALS)} ${symbol}`
  const end = limit?.timeInForce === 'DAY' ? ', until the close' : ''
  const at = limit === undefined ? '' : ` ${limitWords(side, limit.price)}${end}`
  return `${verb} ${symbol} for ${money(usdc)} USDC${at}`
}
