import { type OrderRequest, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../src/client/index.js'
import { sharesFor } from '../../src/protocol/units.js'
import { plainNumber } from '../words/number.js'

/** What is written on the ticket. */
export interface Ticket {
  readonly side: OrderRequest['side']
  readonly symbol: string
  readonly amount: string
  readonly payFrom: 'wallet' | 'cash'
  readonly hours: number
}

const LEAST = 1_000_000n
const HOUR_SECONDS = 3_600

/** A withdrawal of shares is by their number, everything else by an amount of USDC. */
export function decimalsOf({ side, symbol }: Pick<Ticket, 'side' | 'symbol'>): number {
  return side === 'WITHDRAW' && symbol !== 'USDC' ? SHARE_DECIMALS : USDC_DECIMALS
}

/** The amount in base units, or what is wrong with it in words; null for an empty one. */
export function amountOf(ticket: Ticket): bigint | string | null {
  if (ticket.amount.trim() === '') return null
  const text = plainNumber(ticket.amount)
  if (text === null) return 'Write a plain number, such as 250 or 99.50.'
  const decimals = decimalsOf(ticket)
  if ((text.split('.')[1] ?? '').length > decimals) return `At most ${decimals} digits after the point.`
  const units = parseDecimal(text, decimals)
  if (units === 0n) return 'More than nothing.'
  if (ticket.side !== 'WITHDRAW' && units < LEAST) return 'At least 1 USDC.'
  return units
}

/** The order on the ticket, with its deadline from now on. */
export function orderOf(
  { side, symbol, payFrom, hours }: Ticket,
  maxSpend: bigint,
  now: number,
): OrderRequest {
  const deadline = Math.floor(now / 1_000) + hours * HOUR_SECONDS
  return { side, symbol, maxSpend, deadline, ...(side === 'BUY' && { payFrom }) }
}

/** Shares that an amount comes to at a price, null without a price. */
export function estimate(units: bigint, price: bigint | null): bigint | null {
  return price === null || price === 0n ? null : sharesFor(units, price)
}
