import { z } from 'zod'
import { parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
import type { BrokerHttp } from './http.js'
import { decimalTextSchema } from './numbers.js'

export interface BrokerPosition {
  readonly symbol: string
  /** Share base units held, rounded down; negative for a short position. */
  readonly qty: bigint
}

export interface BrokerAccount {
  readonly id: string
  /** `ACTIVE` when it may trade. */
  readonly status: string
  readonly tradingBlocked: boolean
  /** USD with 6 decimals, rounded down. */
  readonly cash: bigint
  readonly buyingPower: bigint
}

// The documented example of a position has a space at the symbol's end.
const positionSchema = z.object({ symbol: z.string().trim().min(1), qty: decimalTextSchema }).transform(
  ({ symbol, qty }): BrokerPosition => ({
    symbol,
    qty: parseDecimal(qty, SHARE_DECIMALS, 'down'),
  }),
)

const accountSchema = z
  .object({
    id: z.string(),
    status: z.string(),
    trading_blocked: z.boolean().nullish(),
    account_blocked: z.boolean().nullish(),
    cash: decimalTextSchema,
    buying_power: decimalTextSchema,
  })
  .transform(
    (account): BrokerAccount => ({
      id: account.id,
      status: account.status,
      tradingBlocked: account.trading_blocked === true || account.account_blocked === true,
      cash: parseDecimal(account.cash, USDC_DECIMALS, 'down'),
      buyingPower: parseDecimal(account.buying_power, USDC_DECIMALS, 'down'),
    }),
  )

/** `GET /v2/positions`: what the account holds, every symbol at once. */
export function getPositions(trading: BrokerHttp): Promise<BrokerPosition[]> {
  return trading.request(
    { method: 'GET', route: '/v2/positions', path: '/v2/positions', purpose: 'other' },
    z.array(positionSchema),
  )
}

/** `GET /v2/account`. */
export function getAccount(trading: BrokerHttp): Promise<BrokerAccount> {
  return trading.request(
    { method: 'GET', route: '/v2/account', path: '/v2/account', purpose: 'other' },
    accountSchema,
  )
}
