// The sum of an account's orders: its portfolio again, from the escrow, its payouts and the broker's fills. Pure.
import type { BrokerOrder } from '../../broker/index.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { type CorporateAction, successorOf } from '../../protocol/corporateActions.js'
import type { FeeSchedule } from '../../protocol/fees.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName, clientOrderIdOf } from '../../protocol/identifiers.js'
import { ONE_CENT } from '../../protocol/units.js'
import { tradeOf, USDC } from '../money.js'
import { sharesToday, type TimedFill } from '../order/placements.js'

/** The broker's record of an order, with the fills of the orders that continued it. */
export type BrokerFill = Pick<BrokerOrder, 'side' | 'symbol' | 'filledQty' | 'fills' | 'notional'> & {
  /** The same shares with their times; absent where no corporate action has come since. */
  readonly timed?: readonly TimedFill[]
}

/** Its shares as they are after these actions. */
export function sharesIn(
  { symbol, filledQty, timed = [{ symbol, qty: filledQty, at: null }] }: BrokerFill,
  actions: readonly CorporateAction[],
) {
  return sharesToday(timed, actions)
}

/** The amount that a withdrawal took out of the pool. */
export interface Payout {
  /** `USDC` or a symbol. */
  asset: string
  /** Base units. */
  amount: bigint
}

/**
 * Replays orders of one account.
 * @param orders without those in its portfolio: they have had no effect yet
 */
export function replay(
  orders: Iterable<readonly [Hex, EscrowedOrder]>,
  deps: {
    /** By `client_order_id`. */
    fills: ReadonlyMap<string, BrokerFill>
    payouts: ReadonlyMap<Hex, Payout>
    /** The fee schedule, and earlier ones by which sales were settled. */
    schedules: readonly FeeSchedule[]
    /** The corporate actions that the portfolio had followed by then. */
    actions?: readonly CorporateAction[]
  },
) {
  const { fills, payouts, schedules, actions = [] } = deps
  /** USDC base units. The two differ only where a fee schedule has changed, or a fraction of a cent is not known. */
  const cash = { least: 0n, most: 0n }
  /** Share base units by symbol; a symbol may be there with 0. */
  const positions = new Map<string, bigint>()
  for (const [orderId, order] of orders) {
    const payout = payouts.get(orderId)
    const fill = fills.get(clientOrderIdOf(orderId))
    if (payout) add(payout.asset, -payout.amount)
    // A buy that was refunded or reclaimed has its USDC back: a fill of it belongs to the platform. A request has nothing.
    const isTraded = order.state === 'SETTLED' || (order.state === 'REFUNDED' && order.amount === 0n)
    if (fill && isTraded) {
      for (const { symbol, qty } of sharesIn(fill, actions)) add(symbol, fill.side === 'buy' ? qty : -qty)
      addCash(...(fill.side === 'buy' ? leftOf(order, fill) : netsOf(fill, schedules)))
    }
    // A settled escrow that bought nothing was a deposit.
    if (!fill && !payout && order.state === 'SETTLED') {
      const name = bytes32ToName(order.symbol)
      if (name === null) add(USDC, order.amount)
      else add(successorOf(name, actions).symbol, order.shares)
    }
  }
  return { cash, positions }

  function add(asset: string, amount: bigint): void {
    if (asset === USDC) addCash(amount, amount)
    else positions.set(asset, (positions.get(asset) ?? 0n) + amount)
  }

  function addCash(least: bigint, most: bigint): void {
    cash.least += least
    cash.most += most
  }
}

/**
 * What a buy left of its escrow. The broker knows the amount of one from cash in whole cents; the escrow knows that of any other
 * exactly.
 */
function leftOf({ amount }: EscrowedOrder, fill: BrokerFill): [least: bigint, most: bigint] {
  const floor = fill.notional ?? 0n
  const [lowest, highest] = amount > 0n ? [amount, amount] : [floor, floor + ONE_CENT - 1n]
  const costOf = (notional: bigint) => tradeOf({ side: 'BUY', notional }, fill, []).value
  return [amount - costOf(highest), amount - costOf(lowest)]
}

function netsOf(fill: BrokerFill, schedules: readonly FeeSchedule[]): [least: bigint, most: bigint] {
  const nets = schedules.map((schedule) => {
    const { value, fees } = tradeOf({ side: 'SELL', notional: 0n }, fill, schedule)
    return value - fees
  })
  const sorted = nets.sort((a, b) => (a < b ? -1 : 1))
  return [sorted[0] ?? 0n, sorted.at(-1) ?? 0n]
}
