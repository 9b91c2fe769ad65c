import { z } from 'zod'
import { PRICE_DECIMALS, parseDecimal, USDC_DECIMALS } from '../protocol/units.js'
import type { BrokerHttp } from './http.js'
import { timestampSchema } from './market.js'
import { decimalTextSchema, exactSharesSchema, fillPriceSchema } from './numbers.js'

const fillSchema = z
  .object({
    activity_type: z.literal('FILL'),
    id: z.string().min(1),
    symbol: z.string().min(1),
    // A short sale is one of shares that the account does not hold.
    side: z.enum(['buy', 'sell', 'sell_short']),
    qty: exactSharesSchema,
    price: fillPriceSchema,
    transaction_time: timestampSchema,
  })
  .transform(({ id, symbol, side, qty, price, transaction_time: at }) => ({
    id,
    fill: {
      symbol,
      side: side === 'buy' ? ('buy' as const) : ('sell' as const),
      /** Share base units. */
      qty,
      /** USD with 6 decimals, rounded up. */
      price: parseDecimal(price, PRICE_DECIMALS, 'up'),
      at,
    },
  }))
/** A fill as the broker has entered it: an order that filled in parts has several. */
export type TradeActivity = Readonly<z.output<typeof fillSchema>['fill']>

const feeSchema = z
  .object({
    activity_type: z.literal('FEE'),
    id: z.string().min(1),
    date: z.iso.date(),
    net_amount: decimalTextSchema,
    status: z.string().nullish(),
  })
  .transform(({ id, date, net_amount, status }) => ({
    id,
    fee: {
      /** `YYYY-MM-DD`: the day that it was entered for. */
      day: date,
      /** USD with 6 decimals. */
      amount: status === 'canceled' ? 0n : -parseDecimal(net_amount, USDC_DECIMALS, 'down'),
    },
  }))
/** A fee that the broker has charged, or given back where it is negative. */
export type FeeActivity = Readonly<z.output<typeof feeSchema>['fee']>

/** An account's entries in the broker's books. */
export interface Activities {
  readonly fills: readonly TradeActivity[]
  readonly fees: readonly FeeActivity[]
}

/** A page of entries, as the broker answers it. */
export const activityPageSchema = z.array(z.union([fillSchema, feeSchema]))

type ActivityPage = z.output<typeof activityPageSchema>

/** Entries of one page: Alpaca's own limit. */
const PAGE = 100

/** `GET /v2/account/activities`: every fill and fee after a time, a call for each 100. */
export async function getActivities(trading: BrokerHttp, { after }: { after: Date }): Promise<Activities> {
  const path = '/v2/account/activities'
  const found: ActivityPage = []
  for (let last: string | undefined; ; last = found.at(-1)?.id) {
    const query = {
      activity_types: 'FILL,FEE',
      after: after.toISOString(),
      direction: 'asc',
      page_size: String(PAGE),
      ...(last !== undefined && { page_token: last }),
    }
    const page = await trading.request({ method: 'GET', path, query, purpose: 'other' }, activityPageSchema)
    found.push(...page)
    if (page.length < PAGE) break
  }
  return asActivities(found)
}

export function asActivities(found: ActivityPage): Activities {
  return {
    fills: found.flatMap((entry) => ('fill' in entry ? [entry.fill] : [])),
    fees: found.flatMap((entry) => ('fee' in entry ? [entry.fee] : [])),
  }
}
