import { formatDecimal, SHARE_DECIMALS } from '../../protocol/units.js'
import type { ControlRunners } from './commands.js'
import type { ControlCommand, ControlInput } from './controlSchemas.js'
import { formatCash } from './money.js'
import type { RequestLog, SeenRequest } from './requestLog.js'
import { orderJson } from './shapes.js'
import type { StandInAccount } from './types.js'

export interface AccountView {
  readonly name: string
  readonly cash: string
  readonly positions: Record<string, string>
}

export type OrderView = ReturnType<typeof orderJson> & { readonly account: string }

/**
 * What steers the stand-in. Amounts are plain decimal strings, times ISO 8601, accounts are named, not keyed.
 *
 * The same over HTTP on the same server, without keys: a command is `POST /sandbox/<command>` with its argument as
 * JSON body, a view is `GET /sandbox/orders`, `/sandbox/accounts` or `/sandbox/requests`. All of it:
 *
 * ```sh
 * curl -d '{"open": false, "nextOpen": "2030-01-02T14:30:00Z"}' $BROKER/sandbox/clock   # opens by itself then
 * curl -d '{"symbol": "AAPL", "price": "180.00"}'               $BROKER/sandbox/price   # quote a cent around it
 * curl -d '{"steps": 10}'                                       $BROKER/sandbox/walk
 * curl -d '{"symbol": "AAPL", "omit": ["latestTrade"]}'         $BROKER/sandbox/snapshot  # "all", or [] for nothing
 * curl -d '{"symbol": "AAPL", "tradable": false}'               $BROKER/sandbox/asset
 * curl -d '{"name": "enclave", "cash": "5", "positions": {"AAPL": "1.5"}}' $BROKER/sandbox/account
 * curl -d '{"mode": "partial", "fraction": "0.4", "times": 1}'  $BROKER/sandbox/fill    # the next order
 * curl -d '{"what": "fills"}'                                   $BROKER/sandbox/clear   # or "faults"
 * curl -d '{"symbol": "AAPL"}'                                  $BROKER/sandbox/release # fills what is live
 * curl -d '{"clientOrderId": "…", "status": "expired"}'         $BROKER/sandbox/end
 * curl -d '{"method": "POST", "path": "/v2/orders", "drop": "after"}' $BROKER/sandbox/fault  # placed, answer lost
 * curl -d '{"respond": {"status": 503, "body": {}}, "times": 3}' $BROKER/sandbox/fault
 * curl -d '{"perMinute": 200}'                                  $BROKER/sandbox/limit   # null: never refuse
 * ```
 */
export type BrokerControl = { readonly [C in ControlCommand]: (input: ControlInput<C>) => void } & {
  /** Every order of every account, in the order of placing within an account. */
  orders(): OrderView[]
  accounts(): AccountView[]
  /** The requests to Alpaca's routes so far, oldest first. */
  requests(): SeenRequest[]
}

/** Commands throw RangeError for a symbol or an account that is not there, ZodError for a malformed input. */
export function createControl(deps: {
  readonly commands: ControlRunners
  readonly accounts: readonly StandInAccount[]
  readonly requestLog: RequestLog
}): BrokerControl {
  const { commands, accounts, requestLog } = deps
  return {
    ...commands,
    orders: () =>
      accounts.flatMap(({ name, orders }) =>
        [...orders.values()].map((order) => ({ account: name, ...orderJson(order) })),
      ),
    accounts: () => accounts.map(viewOf),
    requests: () => requestLog.all(),
  }
}

function viewOf({ name, cash, positions }: StandInAccount): AccountView {
  const held = [...positions].map(([symbol, { qty }]) => [symbol, formatDecimal(qty, SHARE_DECIMALS)])
  return { name, cash: formatCash(cash), positions: Object.fromEntries(held) }
}
