import { z } from 'zod'
import { formatDecimal, ONE_SHARE, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
import type { Listing, Market } from './market.js'
import { formatCash, liveOrders, reservedCash, reservedQty, shownCash, toCash } from './money.js'
import { type Reply, refusal, type StandInAccount } from './types.js'

const POSITIVE_DECIMAL = /^(?=.*[1-9])\d{1,15}(?:\.\d{1,20})?$/
const MIN_NOTIONAL = toCash(1_000_000n)

// Alpaca accepts a string or a number for both sizes and ignores unknown members.
const sizeSchema = z
  .union([z.string(), z.number().transform(String)])
  .refine((text) => POSITIVE_DECIMAL.test(text))
  .nullish()

// Refuses a market order that has members of other order types.
const orderBodySchema = z.object({
  symbol: z.string().min(1),
  side: z.enum(['buy', 'sell']),
  type: z.literal('market'),
  time_in_force: z.literal('day'),
  client_order_id: z.string().min(1).max(128).optional(),
  notional: sizeSchema,
  qty: sizeSchema,
  extended_hours: z.literal(false).nullish(),
  order_class: z.enum(['', 'simple']).nullish(),
  limit_price: z.null().optional(),
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
  const listing = market.listings.get(order.symbol)
  if (!listing) return refusal(422, 42210000, `asset "${order.symbol}" not found`)
  const sized = sizeOf(order.notional ?? undefined, order.qty ?? undefined)
  if ('status' in sized) return sized
  const ticket = { symbol: order.symbol, side: order.side, clientOrderId: order.client_order_id, ...sized }
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
  const price = ticket.side === 'buy' ? listing.ask : listing.bid
  const worth = ticket.notional === null ? (ticket.qty ?? 0n) * price : toCash(ticket.notional)
  if (worth < MIN_NOTIONAL && !isWhole(ticket))
    return refusal(403, 40310000, 'cost basis must be >= minimal amount of order 1')

  const opposite = liveOrders(account).find(
    (live) => live.symbol === ticket.symbol && live.side !== ticket.side,
  )
  if (opposite) {
    return refusal(403, 40310000, 'potential wash trade detected. use complex orders', {
      existing_order_id: opposite.id,
      reject_reason: 'opposite side market/stop order exists',
    })
  }
  if (ticket.side === 'sell') return refuseSale(account, listing, ticket.qty ?? worth / price)

  const available = shownCash(account) - reservedCash(account, (symbol) => market.listing(symbol).ask)
  const cost = ticket.notional === null ? (worth * 104n) / 100n : worth
  if (cost <= available) return undefined
  return refusal(403, 40310000, 'insufficient buying power', {
    buying_power: formatCash(available > 0n ? available : 0n),
    cost_basis: formatCash(cost),
  })
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
