import * as z from 'zod'
import {
  formatDecimal,
  ONE_SHARE,
  PRICE_DECIMALS,
  parseDecimal,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../protocol/units.js'
import type { Listing, Market } from './market.js'
import { formatCash, liveOrders, reservedCash, reservedQty, shownCash, toCash } from './money.js'
import { type Reply, refusal, type StandInAccount, type StandInOrder } from './types.js'

const POSITIVE_DECIMAL = /^(?=.*[1-9])\d{1,15}(?:\.\d{1,20})?$/
const MIN_NOTIONAL = toCash(1_000_000n)

// Alpaca accepts a string or a number for both sizes and ignores unknown members.
const sizeSchema = z
  .union([z.string(), z.number().transform(String)])
  .refine((text) => POSITIVE_DECIMAL.test(text))
  .nullish()

// Refuses an order that has members of other order types.
const orderBodySchema = z.object({
  symbol: z.string().min(1),
  side: z.enum(['buy', 'sell']),
  type: z.enum(['market', 'limit']),
  time_in_force: z.literal('day'),
  client_order_id: z.string().min(1).max(128).optional(),
  notional: sizeSchema,
  qty: sizeSchema,
  extended_hours: z.literal(false).nullish(),
  order_class: z.enum(['', 'simple']).nullish(),
  limit_price: sizeSchema,
  stop_price: z.null().optional(),
  trail_price: z.null().optional(),
  trail_percent: z.null().optional(),
  take_profit: z.null().optional(),
  stop_loss: z.null().optional(),
})

interface OrderTicket {
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly clientOrderId: string | undefined
  readonly notional: bigint | null
  readonly qty: bigint | null
  readonly limitPrice: bigint | null
}

/**
 * An order ready to be booked, or the broker's refusal. Checks run in the order in which Alpaca lists its 4xx answers.
 */
export function admit(body: unknown, account: StandInAccount, market: Market): OrderTicket | Reply {
  const parsed = orderBodySchema.safeParse(body)
  if (!parsed.success)
    return refusal(422, 40010001, `invalid ${parsed.error.issues[0]?.path.join('.') || 'body'}`)
  const order = parsed.data
  if (account.orders.has(order.client_order_id ?? '')) {
    return refusal(422, 40010001, 'client_order_id must be unique')
  }
  const limit = limitOf(order.type, order.limit_price ?? undefined)
  if ('status' in limit) return limit
  const listing = market.listings.get(order.symbol)
  if (!listing) return refusal(422, 42210000, `asset "${order.symbol}" not found`)
  const sized = sizeOf(order.notional ?? undefined, order.qty ?? undefined)
  if ('status' in sized) return sized
  const common = { symbol: order.symbol, side: order.side, clientOrderId: order.client_order_id }
  const ticket = { ...common, ...sized, ...limit }
  return refuseAsset(listing, ticket) ?? refuseAccount(account, listing, market, ticket) ?? ticket
}

function sizeOf(notional?: string, qty?: string): { notional: bigint | null; qty: bigint | null } | Reply {
  if (notional !== undefined && qty !== undefined) {
    return refusal(422, 40010001, 'only one of qty or notional is accepted')
  }
  if (notional !== undefined) {
    if (/\.\d\d0*[1-9]/.test(notional)) {
      return refusal(422, 42210000, 'notional value must be limited to 2 decimal places')
    }
    return { notional: parseDecimal(notional, USDC_DECIMALS), qty: null }
  }
  if (qty === undefined) return refusal(422, 40010001, 'qty or notional is required')
  if (/\.\d{9}0*[1-9]/.test(qty)) return refusal(422, 42210000, 'qty must be limited to 9 decimal places')
  return { notional: null, qty: parseDecimal(qty, SHARE_DECIMALS) }
}

/** From a dollar on, a limit price has two decimals at most, and four below. */
function limitOf(type: 'market' | 'limit', text?: string): { limitPrice: bigint | null } | Reply {
  if (type === 'market') {
    return text === undefined
      ? { limitPrice: null }
      : refusal(422, 40010001, 'market orders take no limit_price')
  }
  if (text === undefined) return refusal(422, 40010001, 'limit orders require limit_price')
  const decimals = text.startsWith('0.') ? 4 : 2
  if ((text.split('.')[1] ?? '').replace(/0+$/, '').length > decimals) {
    const reason = 'sub-penny increment does not fulfill minimum pricing criteria'
    return refusal(422, 42210000, `invalid limit_price ${text}. ${reason}`)
  }
  return { limitPrice: parseDecimal(text, PRICE_DECIMALS) }
}

function refuseAsset(listing: Listing, ticket: OrderTicket): Reply | undefined {
  if (listing.status !== 'active' || !listing.tradable) {
    return refusal(422, 42210000, `asset "${listing.symbol}" is not tradable`)
  }
  if (!listing.fractionable && !isWhole(ticket)) {
    return refusal(403, 40310000, `asset "${listing.symbol}" is not fractionable`)
  }
  return undefined
}

/** Whether the order is for whole shares, which are exempt from the minimum order amount. */
function isWhole({ qty }: OrderTicket): boolean {
  return qty !== null && qty % ONE_SHARE === 0n
}

/** The refusals that Alpaca answers with 403 and code 40310000. */
function refuseAccount(
  account: StandInAccount,
  listing: Listing,
  market: Market,
  ticket: OrderTicket,
): Reply | undefined {
  const price = ticket.limitPrice ?? (ticket.side === 'buy' ? listing.ask : listing.bid)
  const worth = ticket.notional === null ? (ticket.qty ?? 0n) * price : toCash(ticket.notional)
  if (worth < MIN_NOTIONAL && !isWhole(ticket))
    return refusal(403, 40310000, 'cost basis must be >= minimal amount of order 1')

  const opposite = liveOrders(account).find((live) => mayMeet(live, ticket))
  if (opposite) {
    const kind = opposite.limitPrice === null ? 'market/stop' : 'limit'
    return refusal(403, 40310000, 'potential wash trade detected. use complex orders', {
      existing_order_id: opposite.id,
      reject_reason: `opposite side ${kind} order exists`,
    })
  }
  if (ticket.side === 'sell') return refuseSale(account, listing, ticket.qty ?? worth / price)

  const available = shownCash(account) - reservedCash(account, (symbol) => market.listing(symbol).ask)
  const isExact = ticket.notional !== null || ticket.limitPrice !== null
  const cost = isExact ? worth : (worth * 104n) / 100n
  if (cost <= available) return undefined
  return refusal(403, 40310000, 'insufficient buying power', {
    buying_power: formatCash(available > 0n ? available : 0n),
    cost_basis: formatCash(cost),
  })
}

/** Whether two orders could trade with each other: two limits only where the buy pays what the sale asks for. */
function mayMeet(live: StandInOrder, { symbol, side, limitPrice }: OrderTicket): boolean {
  if (live.symbol !== symbol || live.side === side) return false
  if (live.limitPrice === null || limitPrice === null) return true
  return side === 'buy' ? limitPrice >= live.limitPrice : live.limitPrice >= limitPrice
}

function refuseSale(account: StandInAccount, listing: Listing, qty: bigint): Reply | undefined {
  const held = account.positions.get(listing.symbol)?.qty ?? 0n
  const reserved = reservedQty(account, listing.symbol, listing.bid)
  const available = held > reserved ? held - reserved : 0n
  if (qty <= available) return undefined
  const [asked, free] = [formatDecimal(qty, SHARE_DECIMALS), formatDecimal(available, SHARE_DECIMALS)]
  return refusal(
    403,
    40310000,
    `insufficient qty available for order (requested: ${asked}, available: ${free})`,
    {
      available: free,
      existing_qty: formatDecimal(held, SHARE_DECIMALS),
      held_for_orders: formatDecimal(reserved, SHARE_DECIMALS),
      symbol: listing.symbol,
    },
  )
}
