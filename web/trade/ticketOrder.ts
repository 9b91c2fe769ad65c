import { type OrderRequest, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../src/client/index.js'
import { sharesFor } from '../../src/protocol/units.js'
import { plainNumber } from '../words/number.js'

/** The fields of the ticket. */
export interface Ticket {
  readonly side: OrderRequest['side']
  readonly symbol: string
  readonly amount: string
  readonly payFrom: 'wallet' | 'cash'
  readonly hours: number
}

const LEAST = 1_000_000n
const HOUR_SECONDS = 3_600

/** A withdrawal of shares is by share count, every other order by an amount of USDC. */
export function decimalsOf({ side, symbol }: Pick<Ticket, 'side' | 'symbol'>): number {
  return side === 'WITHDRAW' && symbol !== 'USDC' ? SHARE_DECIMALS : USDC_DECIMALS
}

/** The amount in base units, or its fault in words; null if empty. */
export function amountOf(ticket: Ticket): bigint | string | null {
  if (ticket.amount.trim() === '') return null
  const text = plainNumber(ticket.amount)
  if (text === null) return 'Enter a plain number, such as 250 or 99.50.'
  const decimals = decimalsOf(ticket)
  if ((text.split('.')[1] ?? '').length > decimals) return `At most ${decimals} digits after the point.`
  const units = parseDecimal(text, decimals)
  if (units === 0n) return 'Enter an amount above zero.'
  if (ticket.side !== 'WITHDRAW' && units < LEAST) return 'At least 1 USDC.'
  return units
}

/** The ticket's order, with its deadline counted from now. */
export function orderOf(
  { side, symbol, payFrom, hours }: Ticket,
  maxSpend: bigint,
  now: number,
): OrderRequest {
  const deadline = Math.floor(now / 1_000) + hours * HOUR_SECONDS
  return { side, symbol, maxSpend, deadline, ...(side === 'BUY' && { payFrom }) }
}

/** The shares that an amount buys at a price; null without a price. */
export function estimate(units: bigint, price: bigint | null): bigint | null {
  return price === null || price === 0n ? null : sharesFor(units, price)
}
