import * as z from 'zod'
import { parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
import type { BrokerHttp } from './http.js'
import { decimalTextSchema } from './numbers.js'

// The documented example of a position has a space at the symbol's end.
const positionSchema = z
  .object({ symbol: z.string().trim().min(1), qty: decimalTextSchema })
  .transform(({ symbol, qty }) => ({
    symbol,
    /** Share base units held, rounded down; negative for a short position. */
    qty: parseDecimal(qty, SHARE_DECIMALS, 'down'),
  }))
export type BrokerPosition = Readonly<z.output<typeof positionSchema>>

const accountSchema = z
  .object({
    id: z.string(),
    status: z.string(),
    trading_blocked: z.boolean().nullish(),
    account_blocked: z.boolean().nullish(),
    cash: decimalTextSchema,
    buying_power: decimalTextSchema,
  })
  .transform((account) => ({
    id: account.id,
    /** `ACTIVE` when it may trade. */
    status: account.status,
    tradingBlocked: account.trading_blocked === true || account.account_blocked === true,
    /** USD with 6 decimals, rounded down. */
    cash: parseDecimal(account.cash, USDC_DECIMALS, 'down'),
    buyingPower: parseDecimal(account.buying_power, USDC_DECIMALS, 'down'),
  }))
export type BrokerAccount = Readonly<z.output<typeof accountSchema>>

/** `GET /v2/positions`: what the account holds, every symbol at once. */
export function getPositions(trading: BrokerHttp): Promise<BrokerPosition[]> {
  return trading.request({ method: 'GET', path: '/v2/positions', purpose: 'other' }, z.array(positionSchema))
}

/** `GET /v2/account`. */
export function getAccount(trading: BrokerHttp): Promise<BrokerAccount> {
  return trading.request({ method: 'GET', path: '/v2/account', purpose: 'other' }, accountSchema)
}
