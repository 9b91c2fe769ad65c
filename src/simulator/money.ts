import { ceilFee } from '../protocol/fees.js'
import {
  formatDecimal,
  ONE_CENT,
  ONE_SHARE,
  PRICE_DECIMALS,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../protocol/units.js'
import type { StandInAccount, StandInOrder } from './types.js'

/** Decimals of an exact value: a quantity times a price, never rounded. */
export const CASH_DECIMALS = SHARE_DECIMALS + PRICE_DECIMALS
const USDC_TO_CASH = 10n ** BigInt(CASH_DECIMALS - USDC_DECIMALS)
const CASH_CENT = ONE_CENT * USDC_TO_CASH

/** USD with 6 decimals as cash units. */
export function toCash(usd: bigint): bigint {
  return usd * USDC_TO_CASH
}

/** Cash units as USD with 6 decimals, rounded up. */
export function toUsdc(cash: bigint): bigint {
  return (cash + USDC_TO_CASH - 1n) / USDC_TO_CASH
}

export function formatCash(cash: bigint): string {
  return formatDecimal(cash, CASH_DECIMALS)
}

/** A fill's cash movement: its value rounded to the nearest cent, half a cent against the account. */
export function inCents(value: bigint, side: 'buy' | 'sell'): bigint {
  const half = CASH_CENT / 2n
  const added = side === 'buy' ? half : half - 1n
  return ((value + added) / CASH_CENT) * CASH_CENT
}

/** The fees due at the close, each rounded up to the cent. */
export function pendingFees({ accrued }: StandInAccount): bigint {
  return toCash([...accrued.values()].reduce((sum, exact) => sum + ceilFee(exact), 0n))
}

/** The cash that the account shows: Alpaca deducts pending fees from the balances. */
export function shownCash(account: StandInAccount): bigint {
  return account.cash - pendingFees(account)
}

/** The average price of `qty` worth `value`, in plain decimals: up to 15 of them, half rounded up. */
export function averagePrice(value: bigint, qty: bigint): string {
  return formatDecimal((2n * value * ONE_SHARE + qty) / (2n * qty), CASH_DECIMALS)
}

const FINAL: ReadonlySet<string> = new Set(['filled', 'canceled', 'expired', 'rejected', 'replaced'])

export function isLive(order: StandInOrder): boolean {
  return !FINAL.has(order.status)
}

export function liveOrders(account: StandInAccount): StandInOrder[] {
  return [...account.orders.values()].filter(isLive)
}

/** The unfilled quantity of an order at `price`, in share base units; a notional is floored to nine decimals. */
export function remainingQty(order: StandInOrder, price: bigint): bigint {
  if (order.qty !== null) return order.qty - order.filledQty
  return (toCash(order.notional ?? 0n) - order.filledValue) / price
}

/** Cash reserved by live buys: their notional, their limit, or 4 % above the price, as Alpaca reserves for a market order. */
export function reservedCash(account: StandInAccount, priceOf: (symbol: string) => bigint): bigint {
  return liveOrders(account)
    .filter((order) => order.side === 'buy')
    .map((order) => {
      if (order.notional !== null) return toCash(order.notional) - order.filledValue
      const left = remainingQty(order, 1n)
      return order.limitPrice === null
        ? (left * priceOf(order.symbol) * 104n) / 100n
        : left * order.limitPrice
    })
    .reduce((sum, held) => sum + held, 0n)
}

/** Shares of `symbol` reserved by live sells. */
export function reservedQty(account: StandInAccount, symbol: string, price: bigint): bigint {
  return liveOrders(account)
    .filter((order) => order.side === 'sell' && order.symbol === symbol)
    .reduce((sum, order) => sum + remainingQty(order, price), 0n)
}
