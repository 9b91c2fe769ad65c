import { z } from 'zod'
import {
  divide,
  formatDecimal,
  ONE_CENT,
  parseDecimal,
  type Rounding,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../protocol/units.js'
import { timestampSchema } from './clock.js'
import { BrokerError, type BrokerErrorDetails } from './errors.js'
import type { BrokerHttp } from './http.js'
import { exactSharesSchema, fillPriceSchema } from './numbers.js'
import { type BrokerOrderState, orderState } from './orderState.js'

export type OrderSide = 'buy' | 'sell'

/** A market order for the day: by amount (`notional`, USD 6 decimals, whole cents) or by quantity (`qty`, shares 9 decimals). */
export type OrderRequest = {
  readonly symbol: string
  readonly side: OrderSide
  /** At most 48 characters; unique in the account forever. */
  readonly clientOrderId: string
} & (
  | { readonly notional: bigint; readonly qty?: never }
  | { readonly qty: bigint; readonly notional?: never }
)

export interface BrokerOrder {
  readonly id: string
  readonly clientOrderId: string
  readonly symbol: string
  readonly side: OrderSide
  /** Alpaca's own word; branch on `state`. */
  readonly status: string
  readonly state: BrokerOrderState
  readonly createdAt: Date
  /** Share base units filled so far. */
  readonly filledQty: bigint
  /** The average price as Alpaca states it, in plain decimals; null exactly when nothing was filled. */
  readonly filledAvgPrice: string | null
}

const orderSchema = z
  .object({
    id: z.string().min(1),
    client_order_id: z.string(),
    symbol: z.string().min(1),
    side: z.enum(['buy', 'sell']),
    status: z.string().min(1),
    created_at: timestampSchema,
    filled_qty: exactSharesSchema,
    filled_avg_price: fillPriceSchema.nullish(),
  })
  // A fill without a price, or an order that is filled with nothing, can't be settled.
  .refine((order) => (order.filled_qty === 0n ? order.status !== 'filled' : order.filled_avg_price != null))
  .transform(
    (order): BrokerOrder => ({
      id: order.id,
      clientOrderId: order.client_order_id,
      symbol: order.symbol,
      side: order.side,
      status: order.status,
      state: orderState(order.status),
      createdAt: order.created_at,
      filledQty: order.filled_qty,
      filledAvgPrice: order.filled_qty === 0n ? null : (order.filled_avg_price ?? null),
    }),
  )

/** The broker has an order under this `client_order_id` already: `existing`. It may be anyone's: check symbol and side. */
export class DuplicateOrderError extends BrokerError {
  constructor(
    readonly existing: BrokerOrder,
    details: BrokerErrorDetails,
  ) {
    super('duplicate-client-order-id', details)
  }
}

/**
 * `POST /v2/orders`: a market order with time in force `day`.
 *
 * Alpaca answers a used `client_order_id` with the same status (422) and code (40010001) as any other malformed
 * request, and only its words tell them apart. Words are not a contract: after every 422 the id is looked up.
 *
 * @throws DuplicateOrderError when the id is taken; BrokerError `ambiguous` when the order may exist
 *   (no definite answer, or the look-up after a 422 failed); `rejected` and the other kinds when it does not
 * @throws RangeError for a notional that is not whole cents, or an amount that is not positive
 */
export async function placeOrder(trading: BrokerHttp, request: OrderRequest): Promise<BrokerOrder> {
  const route = '/v2/orders'
  const body = {
    symbol: request.symbol,
    side: request.side,
    type: 'market',
    time_in_force: 'day',
    client_order_id: request.clientOrderId,
    ...sizeOf(request),
  }
  try {
    return await trading.request(
      { method: 'POST', route, path: route, body },
      orderWithId(request.clientOrderId),
    )
  } catch (error) {
    if (!(error instanceof BrokerError) || error.status !== 422 || error.kind !== 'rejected') throw error
    const existing = await lookUpAfterRefusal(trading, request.clientOrderId, error)
    if (existing) throw new DuplicateOrderError(existing, error)
    throw error
  }
}

/** `GET /v2/orders:by_client_order_id`; null when the account has no such order. */
export async function getOrderByClientOrderId(
  trading: BrokerHttp,
  clientOrderId: string,
): Promise<BrokerOrder | null> {
  const route = '/v2/orders:by_client_order_id'
  try {
    return await trading.request(
      { method: 'GET', route, path: route, query: { client_order_id: clientOrderId } },
      orderWithId(clientOrderId),
    )
  } catch (error) {
    if (error instanceof BrokerError && error.kind === 'not-found') return null
    throw error
  }
}

/**
 * `DELETE /v2/orders/{id}`: asks for cancellation. `requested` is not a final state: read the order until it has one.
 * `not-cancelable` (422): it has become final already, perhaps by filling.
 */
export async function cancelOrder(trading: BrokerHttp, id: string): Promise<'requested' | 'not-cancelable'> {
  const path = `/v2/orders/${encodeURIComponent(id)}`
  try {
    await trading.request({ method: 'DELETE', route: '/v2/orders/{id}', path }, z.unknown())
    return 'requested'
  } catch (error) {
    if (error instanceof BrokerError && error.kind === 'rejected' && error.status === 422)
      return 'not-cancelable'
    throw error
  }
}

/**
 * What the filled part of an order cost or brought, in USDC base units: `filled_qty × filled_avg_price`, multiplied
 * at full precision and rounded once. Alpaca states no total; its average may itself be rounded in the last place
 * that it prints, which over several fills can be off from the account's change of cash by about that much per share.
 */
export function fillValue(order: BrokerOrder, rounding: Rounding): bigint {
  if (order.filledAvgPrice === null) return 0n
  const decimals = order.filledAvgPrice.split('.')[1]?.length ?? 0
  const price = parseDecimal(order.filledAvgPrice, decimals)
  return divide(order.filledQty * price, 10n ** BigInt(SHARE_DECIMALS + decimals - USDC_DECIMALS), rounding)
}

/** USDC base units floored to whole cents, the finest notional that Alpaca takes. */
export function floorToCents(amount: bigint): bigint {
  return amount - (amount % ONE_CENT)
}

function orderWithId(clientOrderId: string) {
  // Another order's answer must never be taken for this one's.
  return orderSchema.refine((order) => order.clientOrderId === clientOrderId)
}

function sizeOf(request: OrderRequest): { notional: string } | { qty: string } {
  if (request.notional === undefined) {
    if (request.qty <= 0n) throw new RangeError('"qty" expected a positive quantity')
    return { qty: formatDecimal(request.qty, SHARE_DECIMALS) }
  }
  if (request.notional <= 0n || request.notional % ONE_CENT !== 0n) {
    throw new RangeError('"notional" expected a positive amount in whole cents')
  }
  return { notional: formatDecimal(request.notional, USDC_DECIMALS) }
}

async function lookUpAfterRefusal(
  trading: BrokerHttp,
  clientOrderId: string,
  refusal: BrokerError,
): Promise<BrokerOrder | null> {
  try {
    return await getOrderByClientOrderId(trading, clientOrderId)
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    throw new BrokerError('ambiguous', { ...refusal, reason: 'lookup-failed' })
  }
}
