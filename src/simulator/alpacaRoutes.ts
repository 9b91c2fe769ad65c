import { randomUUID } from 'node:crypto'
import { admit } from './admission.js'
import { barsOf } from './bars.js'
import type { FillBehaviour } from './controlSchemas.js'
import type { CorporateActions } from './corporateActions.js'
import { type Lifecycle, newOrder } from './lifecycle.js'
import type { Market } from './market.js'
import type { StandInClock } from './marketClock.js'
import { isLive } from './money.js'
import { accountJson, assetJson, orderJson, positionJson, snapshotJson } from './shapes.js'
import { type Activity, type Reply, refusal, type StandInAccount, type StandInOrder } from './types.js'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface AlpacaCall {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly account: StandInAccount
}

/** Answers the documented routes of the trading and market data APIs for an authenticated account. */
export function createAlpacaRoutes(deps: {
  readonly market: Market
  readonly clock: StandInClock
  readonly lifecycle: Lifecycle
  readonly corporateActions: CorporateActions
  readonly now: () => Date
  /** The fill behaviour of an order about to be placed. */
  readonly behaviourFor: (account: StandInAccount, symbol: string) => FillBehaviour
}): (call: AlpacaCall) => Reply {
  const { market, clock, lifecycle, now } = deps

  function placeOrder({ account, body }: AlpacaCall): Reply {
    const ticket = admit(body, account, market)
    if ('status' in ticket) return ticket
    const { clientOrderId = randomUUID(), ...size } = ticket
    const order = newOrder({
      ...size,
      clientOrderId,
      createdAt: now(),
      expiresAt: clock.nextClose(),
      replaces: null,
      behaviour: deps.behaviourFor(account, ticket.symbol),
      status: clock.isOpen() ? 'pending_new' : 'accepted',
    })
    account.orders.set(clientOrderId, order)
    // Like Alpaca, answers with the order as accepted; fills show on the next read.
    const accepted = orderJson(order)
    lifecycle.begin(account, order)
    return { status: 200, body: accepted }
  }

  function cancelOrder({ account }: AlpacaCall, id: string): Reply {
    if (!UUID.test(id)) return refusal(422, 40010001, 'order_id is missing')
    const order = orderOf(account, id)
    if (!order) return refusal(404, 40410000, `order not found for ${id}`)
    lifecycle.cancel(order)
    // Cancelling a canceled order succeeds; orders in any other final state cannot be cancelled.
    if (order.status === 'canceled' || order.status === 'pending_cancel') return { status: 204 }
    return refusal(422, 42210000, `order is already in "${order.status}" state`)
  }

  function orderOf({ orders }: StandInAccount, id: string): StandInOrder | undefined {
    return [...orders.values()].find((order) => order.id === id)
  }

  function found(order: StandInOrder | undefined, id: string): Reply {
    return order
      ? { status: 200, body: orderJson(order) }
      : refusal(404, 40410000, `order not found for ${id}`)
  }

  function listOrders({ account, query }: AlpacaCall): Reply {
    const symbols = query.get('symbols')?.split(',')
    const after = Date.parse(query.get('after') ?? '') || 0
    const until = Date.parse(query.get('until') ?? '') || Number.POSITIVE_INFINITY
    const status = query.get('status') ?? 'open'
    const body = [...account.orders.values()]
      .filter((order) => status === 'all' || isLive(order) === (status === 'open'))
      .filter(({ symbol }) => symbols === undefined || symbols.includes(symbol))
      .filter(({ createdAt }) => createdAt.getTime() > after && createdAt.getTime() < until)
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
      .map(orderJson)
    const limit = Math.min(Number(query.get('limit') ?? 50), 500)
    return {
      status: 200,
      body: query.get('direction') === 'asc' ? body.slice(0, limit) : body.reverse().slice(0, limit),
    }
  }

  function snapshots({ query }: AlpacaCall): Reply {
    const symbols = (query.get('symbols') ?? '').split(',').filter((symbol) => symbol !== '')
    if (symbols.length === 0) return { status: 400, body: { message: 'symbols is required' } }
    const known = symbols
      .flatMap((symbol) => market.listings.get(symbol) ?? [])
      .filter(({ omit }) => omit !== 'all')
    return {
      status: 200,
      body: Object.fromEntries(known.map((each) => [each.symbol, snapshotJson(each, now())])),
    }
  }

  function asset(symbol: string): Reply {
    const listing = market.listings.get(symbol)
    return listing
      ? { status: 200, body: assetJson(listing) }
      : refusal(404, 40410000, `asset not found for ${symbol}`)
  }

  function positions({ account }: AlpacaCall): Reply {
    const body = [...account.positions].map(([symbol, held]) =>
      positionJson(account, market.listing(symbol), held),
    )
    return { status: 200, body }
  }

  return (call) => {
    const [, id] = /^\/v2\/(?:orders|assets)\/([^/]+)$/.exec(call.path) ?? []
    const clientOrderId = call.query.get('client_order_id') ?? ''
    const route = `${call.method} ${id === undefined ? call.path : call.path.slice(0, -id.length)}`
    switch (route) {
      case 'GET /v2/clock':
        return { status: 200, body: clock.toJson() }
      case 'GET /v2/stocks/snapshots':
        return snapshots(call)
      case 'GET /v2/stocks/bars':
        return barsOf(call.query, market, now())
      case 'GET /v1beta1/corporate-actions':
        return deps.corporateActions.list(call.query)
      case 'GET /v2/assets/':
        return asset(id ?? '')
      case 'GET /v2/account':
        return { status: 200, body: accountJson(call.account, market) }
      case 'GET /v2/account/activities':
        return activitiesOf(call)
      case 'GET /v2/positions':
        return positions(call)
      case 'GET /v2/orders:by_client_order_id':
        return found(call.account.orders.get(clientOrderId), clientOrderId)
      case 'GET /v2/orders/':
        return found(orderOf(call.account, id ?? ''), id ?? '')
      case 'GET /v2/orders':
        return listOrders(call)
      case 'POST /v2/orders':
        return placeOrder(call)
      case 'DELETE /v2/orders/':
        return cancelOrder(call, id ?? '')
      default:
        return refusal(404, 40410000, 'endpoint not found')
    }
  }
}

const LARGEST_PAGE = 100

/** `GET /v2/account/activities`: filtered, paged, newest first by default. */
function activitiesOf({ account, query }: AlpacaCall): Reply {
  const size = Number(query.get('page_size') ?? LARGEST_PAGE)
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE) {
    return refusal(422, 40010001, 'page_size must be between 1 and 100')
  }
  const types = query.get('activity_types')?.split(',')
  const after = Date.parse(query.get('after') ?? '') || 0
  const wanted = account.activities
    .filter((activity) => types?.includes(activity.activity_type) ?? true)
    .filter((activity) => idTime(activity) > after)
  const ordered = query.get('direction') === 'asc' ? wanted : wanted.toReversed()
  const token = query.get('page_token')
  const from = token === null ? 0 : ordered.findIndex(({ id }) => id === token) + 1
  return { status: 200, body: ordered.slice(from, from + size) }
}

/** The activity's time: its id starts with it, in UTC with milliseconds. */
function idTime({ id }: Activity): number {
  const [, date = '', time = '', ms = ''] = /^(\d{8})(\d{6})(\d{3})/.exec(id) ?? []
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  return Date.parse(`${day}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}.${ms}Z`)
}
