import * as z from 'zod'
import {
  divide,
  PRICE_DECIMALS,
  parseDecimal,
  type Rounding,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../protocol/units.js'
import { timestampSchema } from './market.js'
import { decimalTextSchema, exactSharesSchema, fillPriceSchema } from './numbers.js'

export interface Fill {
  /** Share base units. */
  readonly qty: bigint
  /** The average price as Alpaca states it, in plain decimals. */
  readonly avgPrice: string
}

const sizeSchema = (decimals: number) =>
  decimalTextSchema.nullish().transform((text) => (text == null ? null : parseDecimal(text, decimals, 'up')))

export const storedOrderSchema = z
  .object({
    id: z.string().min(1),
    client_order_id: z.string(),
    symbol: z.string().min(1),
    side: z.enum(['buy', 'sell']),
    notional: sizeSchema(USDC_DECIMALS),
    qty: sizeSchema(SHARE_DECIMALS),
    limit_price: sizeSchema(PRICE_DECIMALS),
    status: z.string().min(1),
    created_at: timestampSchema,
    replaced_by: z.string().min(1).nullish(),
    replaces: z.string().min(1).nullish(),
    filled_qty: exactSharesSchema.nullish(),
    filled_avg_price: fillPriceSchema.nullish(),
    filled_at: timestampSchema.nullish(),
    canceled_at: timestampSchema.nullish(),
    expired_at: timestampSchema.nullish(),
    failed_at: timestampSchema.nullish(),
  })
  // An order that states no quantity has filled nothing only where it says so otherwise.
  .refine((order) => order.filled_qty != null || isUnfilled(order))
  .transform((order) => ({ ...order, filled_qty: order.filled_qty ?? 0n }))
  // A fill without a price, or an order that is filled with nothing, can't be settled; nor one replaced by no other.
  .refine((order) => (order.filled_qty === 0n ? order.status !== 'filled' : order.filled_avg_price != null))
  .refine((order) => order.status !== 'replaced' || order.replaced_by != null)
  .transform((order) => ({
    id: order.id,
    clientOrderId: order.client_order_id,
    symbol: order.symbol,
    side: order.side,
    /** USD with 6 decimals, rounded up, of an order by amount; else null. */
    notional: order.notional,
    /** Share base units, rounded up, of an order by quantity; else null. */
    qty: order.qty,
    /** USD with 6 decimals of a limit order; else null. */
    limitPrice: order.limit_price,
    /** Alpaca's own word; branch on `state`. */
    status: order.status,
    state: orderState(order.status),
    createdAt: order.created_at,
    replacedBy: order.status === 'replaced' ? (order.replaced_by ?? null) : null,
    replaces: order.replaces ?? null,
    /** Share base units filled so far. */
    filledQty: order.filled_qty,
    /** When it became final; null while it is live. */
    endedAt: endOf(order),
    /** The same at its average price: one entry, or one per order where others continued this one. */
    fills: fillsOf(order),
  }))
/** One order as the broker stores it, with its place in a chain of replacements. */
export type StoredOrder = Readonly<z.output<typeof storedOrderSchema>>
export type BrokerOrder = Omit<StoredOrder, 'replacedBy' | 'replaces'>
export type OrderSide = BrokerOrder['side']

function fillsOf(order: {
  filled_qty: bigint
  filled_avg_price?: string | null | undefined
}): readonly Fill[] {
  if (order.filled_qty === 0n || order.filled_avg_price == null) return []
  return [{ qty: order.filled_qty, avgPrice: order.filled_avg_price }]
}

/** Whether an order without `filled_qty` has certainly filled nothing: it was rejected, or it ended without any trace of a fill. */
function isUnfilled(order: {
  status: string
  filled_avg_price?: string | null | undefined
  filled_at?: Date | null | undefined
}): boolean {
  if (order.filled_avg_price != null) return false
  if (order.status === 'rejected') return true
  return orderState(order.status) !== 'live' && order.filled_at == null
}

/** The last of an order's times: one that was filled in part may state when, before its end. */
function endOf(order: {
  status: string
  filled_at?: Date | null | undefined
  canceled_at?: Date | null | undefined
  expired_at?: Date | null | undefined
  failed_at?: Date | null | undefined
}): Date | null {
  if (orderState(order.status) === 'live') return null
  const times = [order.filled_at, order.canceled_at, order.expired_at, order.failed_at]
  const stated = times.flatMap((time) => time?.getTime() ?? [])
  return stated.length === 0 ? null : new Date(Math.max(...stated))
}

/** An order and those that continued it, as one: ordered as the first, standing as the last, with the fills of all. */
export function asOne(first: StoredOrder, others: readonly StoredOrder[]): BrokerOrder {
  const { replacedBy: _by, replaces: _of, ...order } = first
  return joinedWith(order, others)
}

/** The same for an order that was placed again for the rest of it, once the broker had ended it. */
export function joinedWith(order: BrokerOrder, others: readonly BrokerOrder[]): BrokerOrder {
  const { id, status, state, endedAt } = others.at(-1) ?? order
  const fills = [order, ...others].flatMap((each) => each.fills)
  return {
    ...order,
    id,
    status,
    state,
    endedAt,
    fills,
    filledQty: fills.reduce((sum, { qty }) => sum + qty, 0n),
  }
}

/**
 * The cost or the proceeds of an order's filled part, in USDC base units: quantity × average price, multiplied at full
 * precision, summed, and rounded once. Alpaca states no total, and may round its average in the last place that it prints. Over
 * several fills the value may differ from the account's change of cash by about that much per share.
 */
export function fillValue({ fills }: Pick<BrokerOrder, 'fills'>, rounding: Rounding): bigint {
  const decimals = Math.max(0, ...fills.map(({ avgPrice }) => avgPrice.split('.')[1]?.length ?? 0))
  const total = fills.reduce((sum, { qty, avgPrice }) => sum + qty * parseDecimal(avgPrice, decimals), 0n)
  const scale = SHARE_DECIMALS + decimals - USDC_DECIMALS
  return divide(total, 10n ** BigInt(scale), rounding)
}

/**
 * Where an order stands: `live` may still fill, the other four are final. A canceled, expired or rejected order
 * may have been filled in part: look at `filledQty`.
 */
export type BrokerOrderState = 'live' | 'filled' | 'canceled' | 'expired' | 'rejected'

const FINAL: ReadonlyMap<string, BrokerOrderState> = new Map([
  ['filled', 'filled'],
  ['canceled', 'canceled'],
  ['expired', 'expired'],
  ['rejected', 'rejected'],
])

/**
 * The state behind Alpaca's order status.
 *
 * Final are only the four statuses after which, by the documentation, no further update comes. Every other one is `live`, known
 * or not: an order that is wrongly taken for live costs another look, one that is wrongly taken for final costs money.
 * - `new`, `accepted`, `pending_new`, `accepted_for_bidding`, `held`, `partially_filled`, `pending_cancel`, `pending_replace`,
 *   `suspended`
 * - `stopped`: a fill is guaranteed
 * - `calculated`, `done_for_day`: its fills are not settled yet, and `expired` or `filled` follows
 * - `replaced`: an order under another id continues it, and is read in its place. Refunding this one would pay twice
 */
export function orderState(status: string): BrokerOrderState {
  return FINAL.get(status) ?? 'live'
}
