import { type OrderRequest, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../src/client/index.js'
import { isOnIncrement } from '../../src/protocol/orderTerms.js'
import { PRICE_DECIMALS } from '../../src/protocol/units.js'
import { plainNumber } from '../words/format.js'

/** The fields of the ticket. */
export interface Ticket {
  readonly side: OrderRequest['side']
  readonly symbol: string
  readonly amount: string
  /** The unit of a buy's or a sale's amount. */
  readonly unit: 'usdc' | 'shares'
  readonly payFrom: 'wallet' | 'cash'
  /** Whether a buy or a sale is at the market's price, or at a limit. */
  readonly priced: 'market' | 'limit'
  /** The limit price as typed. */
  readonly limitPrice: string
  readonly timeInForce: NonNullable<OrderRequest['limit']>['timeInForce']
  readonly hours: number
  /** The payer of the network fee for opening the order, where the platform offers to pay. */
  readonly feePayer: 'platform' | 'wallet'
  /** What the escrow may take, where the wallet pays: this order's amount, or more for later orders too. */
  readonly allowed: 'order' | 'later'
}

/** The ticket as it stands, with an equity to trade and an asset to move: each side keeps its own. */
export interface TicketDraft extends Omit<Ticket, 'symbol'> {
  /** Null for the first listed equity. */
  readonly equity: string | null
  readonly asset: string
}

export const EMPTY_TICKET: TicketDraft = {
  ...{ side: 'BUY', amount: '', unit: 'usdc', payFrom: 'wallet', hours: 24 },
  ...{ priced: 'market', limitPrice: '', timeInForce: 'DAY' },
  ...{ feePayer: 'platform', allowed: 'order' },
  ...{ equity: null, asset: 'USDC' },
}

/** The draft's fields. @param first the first listed equity */
export function ticketOf({ equity, asset, ...fields }: TicketDraft, first: string): Ticket {
  return { ...fields, symbol: isMove(fields.side) ? asset : (equity ?? first) }
}

/** Whether the order moves an asset between wallet and portfolio and trades nothing. */
export function isMove(side: Ticket['side'] | null): side is 'WITHDRAW' | 'DEPOSIT' {
  return side === 'WITHDRAW' || side === 'DEPOSIT'
}

/** The draft with an equity to trade in place of a withdrawal or a deposit. */
export function withEquity(draft: TicketDraft, equity: string): TicketDraft {
  return isMove(draft.side) ? { ...draft, equity, side: 'BUY', amount: '' } : { ...draft, equity }
}

/** The draft as a deposit of the wallet's shares. */
export function withDeposit(draft: TicketDraft, asset: string): TicketDraft {
  return { ...draft, side: 'DEPOSIT', asset, amount: '' }
}

/** Whether the order takes USDC out of the wallet. */
export function isPaidByWallet({
  side,
  symbol,
  payFrom,
}: Pick<Ticket, 'side' | 'symbol' | 'payFrom'>): boolean {
  return side === 'DEPOSIT' ? symbol === 'USDC' : side === 'BUY' && payFrom === 'wallet'
}

/** Whether the order takes shares out of the wallet. The platform opens no such order: the wallet pays the gas. */
export function isDepositOfShares({ side, symbol }: Pick<Ticket, 'side' | 'symbol'>): boolean {
  return side === 'DEPOSIT' && symbol !== 'USDC'
}

/** The least buy or sale, in USDC base units. */
export const LEAST = 1_000_000n
export const HOUR_SECONDS = 3_600

/** The unit of the typed amount. */
export function unitOf({ side, symbol, unit }: Pick<Ticket, 'side' | 'symbol' | 'unit'>): Ticket['unit'] {
  if (!isMove(side)) return unit
  return symbol === 'USDC' ? 'usdc' : 'shares'
}

/** The typed amount in base units of its unit, or its fault in words; null if empty. */
export function amountOf(ticket: Ticket): bigint | string | null {
  if (ticket.amount.trim() === '') return null
  const text = plainNumber(ticket.amount)
  if (text === null) return 'Enter a plain number, such as 250 or 99.50.'
  const isUsdc = unitOf(ticket) === 'usdc'
  const decimals = isUsdc ? USDC_DECIMALS : SHARE_DECIMALS
  if ((text.split('.')[1] ?? '').length > decimals) return `Enter at most ${decimals} digits after the point.`
  const units = parseDecimal(text, decimals)
  if (units === 0n) return 'Enter an amount above zero.'
  if (!isMove(ticket.side) && isUsdc && units < LEAST) return 'Enter at least 1 USDC.'
  return units
}

/** The typed limit price in USD with 6 decimals, or its fault in words; null if empty, and for an order without a limit. */
export function limitOf({
  side,
  priced,
  limitPrice,
}: Pick<Ticket, 'side' | 'priced' | 'limitPrice'>): bigint | string | null {
  if (isMove(side) || priced === 'market' || limitPrice.trim() === '') return null
  const text = plainNumber(limitPrice)
  if (text === null) return 'Enter a plain number, such as 190 or 190.50.'
  const price = (text.split('.')[1] ?? '').length > PRICE_DECIMALS ? 0n : parseDecimal(text, PRICE_DECIMALS)
  return isOnIncrement(price) ? price : 'Enter whole cents, or hundredths of a cent below 1 USD.'
}

/** @param limit USD with 6 decimals; null for the market's price */
export function orderOf(
  { side, symbol, payFrom, timeInForce, hours }: Ticket,
  { units, limit: price }: { readonly units: bigint; readonly limit: bigint | null },
): OrderRequest {
  const validFor = `${hours}h` as const
  if (isMove(side)) {
    return symbol === 'USDC' ? { side, usdc: units, validFor } : { side, symbol, shares: units, validFor }
  }
  const trade = { symbol, usdc: units, validFor, ...(price !== null && { limit: { price, timeInForce } }) }
  return side === 'BUY' ? { side, ...trade, payFrom } : { side, ...trade }
}
