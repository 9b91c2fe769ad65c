import * as z from 'zod'
import { isOnIncrement } from '../protocol/orderTerms.js'
import { formatDecimal, ONE_CENT, PRICE_DECIMALS, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
import { BrokerError } from './errors.js'
import { type BrokerHttp, orNull, type PreparedSending } from './http.js'
import { timestampSchema } from './market.js'
import {
  asOne,
  type BrokerOrder,
  type OrderSide,
  orderState,
  type StoredOrder,
  storedOrderSchema,
} from './order.js'

/** An order for the day: by amount (`notional`, USD 6 decimals, whole cents) or by quantity (`qty`, shares 9 decimals). */
export type OrderRequest = {
  readonly symbol: string
  readonly side: OrderSide
  /** At most 128 characters; unique in the account forever. */
  readonly clientOrderId: string
  /** USD with 6 decimals; without it, a market order. */
  readonly limitPrice?: bigint | undefined
} & (
  | { readonly notional: bigint; readonly qty?: never }
  | { readonly qty: bigint; readonly notional?: never }
)

/** How many orders in a row may have continued one. */
const MAX_REPLACEMENTS = 5

/**
 * `POST /v2/orders`, one request: a market or limit order with time in force `day`, the only one for fractions of a share.
 *
 * @throws BrokerError `ambiguous` when the order may exist; `rejected` and the other kinds when the broker refused it, but for a
 *   refusal that {@link isPossibleDuplicate} names
 * @throws RangeError for a notional that is not whole cents, a limit price off its increment, or an amount that is not positive
 */
export async function postOrder(
  trading: BrokerHttp,
  request: OrderRequest,
  prepared: Required<PreparedSending>,
): Promise<BrokerOrder> {
  const path = '/v2/orders'
  const body = {
    symbol: request.symbol,
    side: request.side,
    ...priceOf(request),
    time_in_force: 'day',
    client_order_id: request.clientOrderId,
    ...sizeOf(request),
  }
  const schema = orderWithId(request.clientOrderId)
  return asOne(await trading.send({ method: 'POST', path, body }, schema, prepared), [])
}

/**
 * Whether the refusal of an order leaves open that the broker has one under its id: look it up. Alpaca answers a used
 * `client_order_id` with the same status (422) and code (40010001) as any other malformed request. Only its words distinguish them,
 * and words are not a contract.
 */
export function isPossibleDuplicate(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.status === 422 && error.kind === 'rejected'
}

/**
 * `GET /v2/orders:by_client_order_id`; null when the account has no such order. One that others replaced is read to
 * their end, as one order: they are found by their ids only.
 */
export async function getOrderByClientOrderId(
  trading: BrokerHttp,
  clientOrderId: string,
): Promise<BrokerOrder | null> {
  const path = '/v2/orders:by_client_order_id'
  const query = { client_order_id: clientOrderId }
  const request = { method: 'GET', path, query, purpose: 'awaited' } as const
  const first = await orNull(trading.request(request, orderWithId(clientOrderId)))
  return first && asOne(first, await replacementsOf(trading, first))
}

/** Those that continued an order, the last one last. One that cannot be found is unreadable, never absent. */
async function replacementsOf(trading: BrokerHttp, first: StoredOrder): Promise<StoredOrder[]> {
  const route = '/v2/orders/{id}'
  const others: StoredOrder[] = []
  for (let last = first; last.replacedBy !== null; ) {
    const id = last.replacedBy
    if (others.length === MAX_REPLACEMENTS) throw unreadable(`GET ${route}`)
    const path = `/v2/orders/${encodeURIComponent(id)}`
    const schema = storedOrderSchema.refine(
      (order) => order.id === id && order.symbol === first.symbol && order.side === first.side,
    )
    const request = { method: 'GET', route, path, purpose: 'awaited' } as const
    const next = await orNull(trading.request(request, schema))
    if (next === null) throw unreadable(`GET ${route}`)
    last = next
    others.push(last)
  }
  return others
}

const standingSchema = z.object({
  id: z.string().min(1),
  client_order_id: z.string(),
  status: z.string().min(1),
  replaced_by: z.string().min(1).nullish(),
})

/**
 * Whether the order under an id may still fill, also where its fills cannot be read. One that others replaced is followed to their end;
 * where the last of them cannot be found, or is replaced by none that it names, nothing is left to fill.
 */
export async function mayFill(trading: BrokerHttp, clientOrderId: string): Promise<boolean> {
  type More = { readonly query?: Record<string, string>; readonly route?: string }
  const get = (path: string, schema: typeof standingSchema, more: More) =>
    orNull(trading.request({ method: 'GET', path, ...more, purpose: 'awaited' }, schema))
  const ofClient = standingSchema.refine((order) => order.client_order_id === clientOrderId)
  const query = { client_order_id: clientOrderId }
  let last = await get('/v2/orders:by_client_order_id', ofClient, { query })
  for (let others = 0; last?.status === 'replaced' && others < MAX_REPLACEMENTS; others++) {
    const { replaced_by: id } = last
    if (!id) return false
    const ofId = standingSchema.refine((order) => order.id === id)
    last = await get(`/v2/orders/${encodeURIComponent(id)}`, ofId, { route: '/v2/orders/{id}' })
  }
  if (last?.status === 'replaced' && !last.replaced_by) return false
  return last !== null && orderState(last.status) === 'live'
}

function unreadable(route: string): BrokerError {
  return new BrokerError('unavailable', { route, reason: 'unreadable' })
}

/** Orders that one page of a list may hold: Alpaca's own limit. */
const PAGE = 500

/** Which orders to list. */
export interface OrderFilter {
  /** Submitted after this time. */
  readonly after: Date
}

/**
 * `GET /v2/orders`: every order that was submitted after a time, in any state, the oldest first. Those that
 * continued another one are part of it.
 */
export async function getOrders(trading: BrokerHttp, { after }: OrderFilter): Promise<BrokerOrder[]> {
  return joined(await listOrders(trading, { after, symbols: [], purpose: 'other' }, storedOrderSchema))
}

/** `GET /v2/orders`: the orders in a symbol that may still fill. */
export async function getLiveOrders(trading: BrokerHttp, symbol: string): Promise<BrokerOrder[]> {
  const filter = { after: new Date(0), symbols: [symbol], status: 'open', purpose: 'awaited' } as const
  return joined(await listOrders(trading, filter, storedOrderSchema))
}

const namedSchema = z
  .object({ id: z.string().min(1), client_order_id: z.string(), created_at: timestampSchema })
  .transform((order) => ({ id: order.id, clientOrderId: order.client_order_id, createdAt: order.created_at }))
/** An order by its id and age. Its fills are not read, so an unreadable one counts too. */
export type NamedOrder = Readonly<z.output<typeof namedSchema>>

/** `GET /v2/orders`, one page: the newest orders that were submitted after a time, by their ids. */
export function getNewestOrders(trading: BrokerHttp, { after }: OrderFilter): Promise<NamedOrder[]> {
  return newestOrders(trading, { after }, namedSchema)
}

interface PageFilter extends OrderFilter {
  /** Submitted before this time. */
  readonly until?: Date | undefined
  readonly symbols?: readonly string[]
}

function newestOrders<T>(
  trading: BrokerHttp,
  { after, until, symbols = [] }: PageFilter,
  schema: z.ZodType<T>,
): Promise<T[]> {
  const before = until && { until: until.toISOString() }
  const query = { ...listQuery(after, symbols), ...before, status: 'all', direction: 'desc' }
  return trading.request({ method: 'GET', path: '/v2/orders', query, purpose: 'awaited' }, z.array(schema))
}

function listQuery(after: Date, symbols: readonly string[]) {
  const ofSymbols = symbols.length > 0 && { symbols: symbols.join(',') }
  return { ...ofSymbols, after: after.toISOString(), limit: String(PAGE) }
}

/** The newest orders. */
export interface OrderPage {
  /** By `client_order_id`; null for one that cannot be read, so that callers who wait for the others get their answers. */
  readonly orders: ReadonlyMap<string, BrokerOrder | null>
  /** None that was created after this time is left out. */
  readonly since: Date
}

/** `GET /v2/orders`, one page: the newest orders of a time, as they stand. */
export async function pollOrders(trading: BrokerHttp, filter: PageFilter): Promise<OrderPage> {
  const found = await newestOrders(trading, filter, z.union([storedOrderSchema, namedSchema]))
  const readable = new Map<string, StoredOrder>()
  const orders = new Map<string, BrokerOrder | null>()
  for (const order of found) {
    if ('status' in order) readable.set(order.id, order)
    else orders.set(order.clientOrderId, null)
  }
  for (const order of joined(readable)) orders.set(order.clientOrderId, order)
  const last = found.length < PAGE ? undefined : found.at(-1)
  return { orders, since: last?.createdAt ?? filter.after }
}

/** Every page of the list, by the broker's ids. */
async function listOrders<T extends { readonly id: string; readonly createdAt: Date }>(
  trading: BrokerHttp,
  filter: {
    readonly after: Date
    readonly symbols: readonly string[]
    readonly purpose: 'awaited' | 'other'
    readonly status?: 'open'
  },
  schema: z.ZodType<T>,
): Promise<Map<string, T>> {
  const path = '/v2/orders'
  const found = new Map<string, T>()
  for (let from = filter.after; ; ) {
    const query = { ...listQuery(from, filter.symbols), status: filter.status ?? 'all', direction: 'asc' }
    const { purpose } = filter
    const page = await trading.request({ method: 'GET', path, query, purpose }, z.array(schema))
    const known = found.size
    // A page begins with the last orders of the page before, because a time names no single order.
    for (const order of page) found.set(order.id, order)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE || found.size === known) return found
    from = last.createdAt
  }
}

/** Orders by the broker's id; those that continued another one become part of it. */
export function joined(found: ReadonlyMap<string, StoredOrder>): BrokerOrder[] {
  return [...found.values()]
    .filter(({ replaces }) => replaces === null || !found.has(replaces))
    .map((first) => asOne(first, chainOf(first, found)))
}

function chainOf({ replacedBy }: StoredOrder, found: ReadonlyMap<string, StoredOrder>): StoredOrder[] {
  const next = replacedBy === null ? undefined : found.get(replacedBy)
  return next === undefined ? [] : [next, ...chainOf(next, found)]
}

/**
 * `DELETE /v2/orders/{id}`: asks for cancellation. `requested` is not a final state: read the order until it has one.
 * `not-cancelable` (422): it has become final already, perhaps by filling.
 */
export async function cancelOrder(trading: BrokerHttp, id: string): Promise<'requested' | 'not-cancelable'> {
  const path = `/v2/orders/${encodeURIComponent(id)}`
  try {
    await trading.request(
      { method: 'DELETE', route: '/v2/orders/{id}', path, purpose: 'cancel' },
      z.unknown(),
    )
    return 'requested'
  } catch (error) {
    if (error instanceof BrokerError && error.kind === 'rejected' && error.status === 422)
      return 'not-cancelable'
    throw error
  }
}

function orderWithId(clientOrderId: string) {
  // Another order's answer must never be taken for this one's.
  return storedOrderSchema.refine((order) => order.clientOrderId === clientOrderId)
}

function priceOf({ limitPrice }: OrderRequest): { type: 'market' } | { type: 'limit'; limit_price: string } {
  if (limitPrice === undefined) return { type: 'market' }
  if (!isOnIncrement(limitPrice)) {
    throw new RangeError('"limitPrice" expected a positive multiple of its increment')
  }
  return { type: 'limit', limit_price: formatDecimal(limitPrice, PRICE_DECIMALS) }
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
