import {
  formatDecimal,
  ONE_SHARE,
  PRICE_DECIMALS,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../../protocol/units.js'
import type { StandInAccount, StandInOrder } from './types.js'

/** Decimals of the stand-in's books: a quantity times a price, never rounded. */
export const CASH_DECIMALS = SHARE_DECIMALS + PRICE_DECIMALS
const USDC_TO_CASH = 10n ** BigInt(CASH_DECIMALS - USDC_DECIMALS)

/** USD with 6 decimals as cash units. */
export function toCash(usd: bigint): bigint {
  return usd * USDC_TO_CASH
}

export function formatCash(cash: bigint): string {
  return formatDecimal(cash, CASH_DECIMALS)
}

/** The average price of `qty` worth `value`, in plain decimals: up to 15 of them, half rounded up. */
export function averagePrice(value: bigint, qty: bigint): string {
  return formatDecimal((2n * value * ONE_SHARE + qty) / (2n * qty), CASH_DECIMALS)
}

export function isLive(order: StandInOrder): boolean {
  return ['accepted', 'new', 'partially_filled', 'pending_cancel'].includes(order.status)
}

export function liveOrders(account: StandInAccount): StandInOrder[] {
  return [...account.orders.values()].filter(isLive)
}

/** What of an order is still to be filled at `price`, in share base units; a notional is floored to nine decimals. */
export function remainingQty(order: StandInOrder, price: bigint): bigint {
  if (order.qty !== null) return order.qty - order.filledQty
  return (toCash(order.notional ?? 0n) - order.filledValue) / price
}

/** Cash that live buys may still take: their notional, or 4 % over the price as Alpaca holds for a market order. */
export function reservedCash(account: StandInAccount, priceOf: (symbol: string) => bigint): bigint {
  return liveOrders(account)
    .filter((order) => order.side === 'buy')
    .map((order) =>
      order.notional === null
        ? (remainingQty(order, 1n) * priceOf(order.symbol) * 104n) / 100n
        : toCash(order.notional) - order.filledValue,
    )
    .reduce((sum, held) => sum + held, 0n)
}

/** Shares of `symbol` that live sells may still take. */
export function reservedQty(account: StandInAccount, symbol: string, price: bigint): bigint {
  return liveOrders(account)
    .filter((order) => order.side === 'sell' && order.symbol === symbol)
    .reduce((sum, order) => sum + remainingQty(order, price), 0n)
}
