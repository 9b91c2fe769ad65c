import * as z from 'zod'
import { ProtocolError } from '../protocol/errors.js'
import { formatDecimal, SHARE_DECIMALS } from '../protocol/units.js'
import type { ControlRunners } from './commands.js'
import type { ControlCommand, ControlInput } from './controlSchemas.js'
import { formatCash, shownCash } from './money.js'
import { orderJson } from './shapes.js'
import type { Activity, Reply, StandInAccount } from './types.js'

/** An order as the API answers it, with its exact filled quantity. */
export type OrderView = Omit<ReturnType<typeof orderJson>, 'filled_qty'> & {
  readonly account: string
  readonly filled_qty: string
}

export type ActivityView = Activity & { readonly account: string }

interface AccountView {
  readonly name: string
  /** Cash minus accrued fees. */
  readonly cash: string
  readonly positions: Readonly<Record<string, string>>
}

/** One request to Alpaca's routes. It holds no key: `account` is the account's name, null for refused keys. */
export interface SeenRequest {
  readonly at: string
  readonly account: string | null
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly body: unknown
  /** The answer's status; `dropped` if the connection was cut instead. */
  readonly outcome: number | 'dropped'
}

/**
 * The controls of the stand-in. Amounts are plain decimal strings, times ISO 8601; accounts go by name.
 *
 * The same server offers them over HTTP, without keys: a command is `POST /sandbox/<command>` with its argument as
 * JSON body, a view is `GET /sandbox/orders`, `/sandbox/accounts`, `/sandbox/activities` or `/sandbox/requests`:
 *
 * ```sh
 * curl -d '{"open": false, "nextOpen": "2030-01-02T14:30:00Z"}' $BROKER/sandbox/clock   # opens at nextOpen
 * curl -d '{"symbol": "AAPL", "price": "180.00"}'               $BROKER/sandbox/price   # quote a cent around it
 * curl -d '{"steps": 10}'                                       $BROKER/sandbox/walk
 * curl -d '{"symbol": "AAPL", "omit": ["latestTrade"]}'         $BROKER/sandbox/snapshot  # "all", or [] for none
 * curl -d '{"symbol": "AAPL", "tradable": false}'               $BROKER/sandbox/asset
 * curl -d '{"name": "enclave", "cash": "5", "positions": {"AAPL": "1.5"}}' $BROKER/sandbox/account
 * curl -d '{"mode": "partial", "fraction": "0.4", "times": 1}'  $BROKER/sandbox/fill    # the next order
 * curl -d '{"mode": "delay", "delayMs": 500, "waitsAs": "held"}'       $BROKER/sandbox/fill    # or suspended, stopped
 * curl -d '{"mode": "immediate", "endsThrough": "calculated", "endDelayMs": 500}' $BROKER/sandbox/fill
 * curl -d '{"mode": "replace", "fraction": "0.4"}'               $BROKER/sandbox/fill
 * curl -d '{"mode": "reject", "filledQty": "null"}'             $BROKER/sandbox/fill
 * curl -d '{"what": "fills"}'                                   $BROKER/sandbox/clear   # or "faults"
 * curl -d '{"symbol": "AAPL"}'                                  $BROKER/sandbox/release # fills live orders
 * curl -d '{"clientOrderId": "…", "status": "expired"}'         $BROKER/sandbox/end
 * curl -d '{"method": "POST", "path": "/v2/orders", "drop": "after"}' $BROKER/sandbox/fault  # placed, answer lost
 * curl -d '{"respond": {"status": 503, "body": {}}, "times": 3}' $BROKER/sandbox/fault
 * curl -d '{"type": "forward_split", "symbol": "AAPL", "day": "2030-01-02", "newRate": "2", "oldRate": "1"}' \
 *   $BROKER/sandbox/announce                                     # and $BROKER/sandbox/book, or another type: see `controlSchemas`
 * curl -d '{"type": "cash_dividend", "symbol": "AAPL", "day": "2030-01-02", "rate": "0.26", "withholding": "0.15"}' \
 *   $BROKER/sandbox/book
 * curl -d '{"perMinute": 200}'                                  $BROKER/sandbox/limit   # null: no limit, no headers
 * ```
 */
export type BrokerControl = { readonly [C in ControlCommand]: (input: ControlInput<C>) => void } & {
  /** Every order of every account, in order of placement within an account. */
  orders(): OrderView[]
  accounts(): AccountView[]
  /** Every account's entries, oldest first within an account. */
  activities(): ActivityView[]
  /** The requests to Alpaca's routes so far, oldest first. */
  requests(): SeenRequest[]
}

/** Commands throw RangeError for an unknown symbol or account, ZodError for a malformed input. */
export function createControl(deps: {
  readonly commands: ControlRunners
  readonly accounts: readonly StandInAccount[]
  readonly requests: readonly SeenRequest[]
}): BrokerControl {
  const { commands, accounts, requests } = deps
  return {
    ...commands,
    orders: () =>
      accounts.flatMap(({ name, orders }) =>
        [...orders.values()].map((order) => ({
          account: name,
          ...orderJson(order),
          filled_qty: formatDecimal(order.filledQty, SHARE_DECIMALS),
        })),
      ),
    accounts: () => accounts.map(viewOf),
    activities: () =>
      accounts.flatMap(({ name, activities }) =>
        activities.map((activity) => ({ ...activity, account: name })),
      ),
    requests: () => [...requests],
  }
}

function viewOf(account: StandInAccount): AccountView {
  const held = [...account.positions].map(([symbol, { qty }]) => [symbol, formatDecimal(qty, SHARE_DECIMALS)])
  return {
    name: account.name,
    cash: formatCash(shownCash(account)),
    positions: Object.fromEntries(held),
  }
}

/** Answers `/sandbox/*`: a view, or 204 after a command; 400 with the reason for a malformed one. */
export function createControlRoutes(control: BrokerControl, commands: ControlRunners) {
  const { orders, accounts, activities, requests } = control
  const views = new Map<string, () => unknown>(Object.entries({ orders, accounts, activities, requests }))
  const runners = new Map(Object.entries(commands))

  return (method: string, name: string, body: unknown): Reply => {
    const view = method === 'GET' ? views.get(name) : undefined
    if (view) return { status: 200, body: view() }
    const run = method === 'POST' ? runners.get(name) : undefined
    if (!run) return { status: 404, body: { message: `no such control: ${method} ${name}` } }
    try {
      run(body)
      return { status: 204 }
    } catch (error) {
      if (error instanceof z.ZodError) return { status: 400, body: { message: z.prettifyError(error) } }
      if (error instanceof RangeError || error instanceof ProtocolError) {
        return { status: 400, body: { message: error.message } }
      }
      throw error
    }
  }
}
