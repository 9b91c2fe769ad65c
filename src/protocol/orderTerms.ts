// What an order says, apart from its signature and its envelope: portfolios and histories have it, too.
import * as z from 'zod/mini'
import { ONE_CENT, ONE_USDC, uint64Schema } from './units.js'

export const sideSchema = z.enum(['BUY', 'SELL', 'WITHDRAW', 'DEPOSIT'])
export type Side = z.output<typeof sideSchema>

/** What an order is for, in base units by the name of the unit: USDC (6 decimals), or the shares (9) that it moves. */
export type OrderAmount =
  | { readonly usdc: bigint; readonly shares?: undefined }
  | { readonly shares: bigint; readonly usdc?: undefined }

/** The amount of an order that has one number without a unit, as an intent: there, side and symbol decide. */
export function amountOf(side: Side, symbol: string, units: bigint): OrderAmount {
  const isMove = side === 'WITHDRAW' || side === 'DEPOSIT'
  return isMove && symbol !== 'USDC' ? { shares: units } : { usdc: units }
}

/** Unix seconds. */
export const timestampSchema = z.int().check(z.minimum(0))

/** `DAY`: the close ends the order. `GTD`: the enclave renews it each day until its deadline. */
export const timeInForceSchema = z.enum(['DAY', 'GTD'])

/** What a limit order has beyond a market order. */
export const limitSchema = z.strictObject({
  /** USD with 6 decimals: the highest price of a buy, the lowest of a sale. */
  price: uint64Schema,
  timeInForce: timeInForceSchema,
})
export type Limit = z.output<typeof limitSchema>

/** What limit prices are multiples of, in USD with 6 decimals: a cent from a dollar on, a hundredth of a cent below. */
export function priceIncrement(price: bigint): bigint {
  return price >= ONE_USDC ? ONE_CENT : ONE_CENT / 100n
}

/** Whether a limit price is one that the broker takes. */
export function isOnIncrement(price: bigint): boolean {
  return price > 0n && price % priceIncrement(price) === 0n
}
