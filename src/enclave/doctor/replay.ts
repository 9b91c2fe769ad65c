// The sum of an account's orders: its portfolio again, from the escrow, its payouts and the broker's fills. Pure.
import type { BrokerOrder } from '../../broker/index.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import type { FeeSchedule } from '../../protocol/fees.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName, clientOrderIdOf } from '../../protocol/identifiers.js'
import { ONE_CENT } from '../../protocol/units.js'
import { tradeOf, USDC } from '../money.js'

/** The broker's record of an order, with the fills of the orders that continued it. */
export type BrokerFill = Pick<BrokerOrder, 'side' | 'symbol' | 'filledQty' | 'fills' | 'notional'>

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
  },
) {
  const { fills, payouts, schedules } = deps
  const expected = {
    /** USDC base units. The two differ only where a fee schedule has changed, or a fraction of a cent is not known. */
    cash: { least: 0n, most: 0n },
    /** Share base units by symbol; a symbol may be there with 0. */
    positions: new Map<string, bigint>(),
  }
  for (const [orderId, order] of orders) {
    const payout = payouts.get(orderId)
    const fill = fills.get(clientOrderIdOf(orderId))
    if (payout) withdraw(expected, payout)
    if (fill && tookItsFill(order)) trade(expected, order, fill, schedules)
    // A settled escrow that bought nothing was a deposit.
    if (!fill && !payout && order.state === 'SETTLED') deposit(expected, order)
  }
  return expected
}

/** The balances that a portfolio must hold. */
type Expected = ReturnType<typeof replay>

/** A buy that was refunded or reclaimed has its USDC back: a fill of it belongs to the platform. A request has nothing. */
function tookItsFill({ state, amount }: EscrowedOrder): boolean {
  return state === 'SETTLED' || (state === 'REFUNDED' && amount === 0n)
}

function withdraw(expected: Expected, { asset, amount }: Payout): void {
  if (asset === USDC) addCash(expected, -amount, -amount)
  else addShares(expected, asset, -amount)
}

function deposit(expected: Expected, { amount, symbol, shares }: EscrowedOrder): void {
  const name = bytes32ToName(symbol)
  if (name === null) addCash(expected, amount, amount)
  else addShares(expected, name, shares)
}

function trade(
  expected: Expected,
  { amount }: EscrowedOrder,
  fill: BrokerFill,
  schedules: readonly FeeSchedule[],
): void {
  if (fill.side === 'buy') {
    const [lowest, highest] = notionalsOf(amount, fill)
    const costOf = (notional: bigint) => tradeOf({ side: 'BUY', notional }, fill, []).value
    addShares(expected, fill.symbol, fill.filledQty)
    addCash(expected, amount - costOf(highest), amount - costOf(lowest))
    return
  }
  const nets = schedules.map((schedule) => {
    const { value, fees } = tradeOf({ side: 'SELL', notional: 0n }, fill, schedule)
    return value - fees
  })
  addShares(expected, fill.symbol, -fill.filledQty)
  addCash(expected, ...boundsOf(nets))
}

/** The broker knows the amount of a buy from cash in whole cents; the escrow knows that of any other exactly. */
function notionalsOf(escrowed: bigint, { notional }: BrokerFill): [lowest: bigint, highest: bigint] {
  if (escrowed > 0n) return [escrowed, escrowed]
  const floor = notional ?? 0n
  return [floor, floor + ONE_CENT - 1n]
}

function boundsOf(values: readonly bigint[]): [least: bigint, most: bigint] {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : 1))
  return [sorted[0] ?? 0n, sorted.at(-1) ?? 0n]
}

function addCash({ cash }: Expected, least: bigint, most: bigint): void {
  cash.least += least
  cash.most += most
}

function addShares({ positions }: Expected, symbol: string, qty: bigint): void {
  positions.set(symbol, (positions.get(symbol) ?? 0n) + qty)
}
