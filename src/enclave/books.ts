// How orders change a portfolio. Pure: every function returns a new portfolio.
import { type BrokerOrder, fillValue } from '../broker/index.js'
import { type FeeSchedule, feesOfSale } from '../protocol/fees.js'
import type { Hex } from '../protocol/hex.js'
import type { OpenOrder, Portfolio, Position } from '../protocol/portfolio.js'
import { toCents } from '../protocol/units.js'

/** Books that do not add up. Nothing is written then. */
export class BooksError extends Error {
  override readonly name = 'BooksError'
}

const NOTHING: Position = { qty: 0n, locked: 0n }

/** Adds an open order and locks its shares. */
export function withOrder(portfolio: Portfolio, orderId: Hex, order: OpenOrder): Portfolio {
  const openOrders = { ...portfolio.openOrders, [orderId]: order }
  return moved({ ...portfolio, openOrders }, order.symbol, { qty: 0n, locked: order.locked })
}

/** Removes an open order and unlocks its shares: the portfolio as if it had never been. */
export function withoutOrder(portfolio: Portfolio, orderId: Hex): Portfolio {
  const { [orderId]: order, ...openOrders } = portfolio.openOrders
  if (!order) return portfolio
  return moved({ ...portfolio, openOrders }, order.symbol, { qty: 0n, locked: -order.locked })
}

/**
 * Takes the effect of an order that ended at the broker, however much of it was filled, and removes it.
 *
 * A buy's cost is rounded up to the cent and never above its notional; a sale's proceeds are rounded down to the cent,
 * less the broker's fees.
 * @param credited USDC that the platform took over for it from the escrow: what the buy did not cost becomes cash
 */
export function withFill(
  portfolio: Portfolio,
  orderId: Hex,
  fill: BrokerOrder,
  { credited, fees }: { credited: bigint; fees: FeeSchedule },
): Portfolio {
  const order = portfolio.openOrders[orderId]
  if (!order) throw new BooksError('the order is not held')
  const released = withoutOrder(portfolio, orderId)
  const { value, fees: taken } = tradeOf(order, fill, fees)
  if (order.side === 'SELL') {
    if (fill.filledQty > order.locked) throw new BooksError('more was sold than the order locked')
    const sold = moved(released, order.symbol, { qty: -fill.filledQty, locked: 0n })
    return withCash(sold, value - taken)
  }
  const bought = moved(released, order.symbol, { qty: fill.filledQty, locked: 0n })
  return withCash(bought, credited - value)
}

/**
 * What a fill comes to for its account. A buy's cost is never above its notional. A sale's fees take no more than it
 * brings, so that a position can be sold to its end.
 */
export function tradeOf(
  { side, notional }: Pick<OpenOrder, 'side' | 'notional'>,
  fill: Pick<BrokerOrder, 'filledQty' | 'fills'>,
  fees: FeeSchedule,
): { value: bigint; fees: bigint } {
  if (side !== 'SELL') return { value: min(toCents(fillValue(fill, 'up'), 'up'), notional), fees: 0n }
  const value = toCents(fillValue(fill, 'down'), 'down')
  return { value, fees: min(feesOfSale(fees, fill.filledQty, fillValue(fill, 'up')), value) }
}

/** Adds to `cash`, or takes from it. */
export function withCash(portfolio: Portfolio, change: bigint): Portfolio {
  const cash = portfolio.cash + change
  if (cash < 0n) throw new BooksError('cash would be negative')
  return { ...portfolio, cash }
}

/** Takes withdrawn shares out of a position. */
export function withoutShares(portfolio: Portfolio, symbol: string, qty: bigint): Portfolio {
  return moved(portfolio, symbol, { qty: -qty, locked: 0n })
}

/** The smaller of two amounts. */
export function min(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}

function moved(portfolio: Portfolio, symbol: string, change: Position): Portfolio {
  const { [symbol]: before = NOTHING, ...others } = portfolio.positions
  const qty = before.qty + change.qty
  const locked = before.locked + change.locked
  if (locked < 0n || qty < locked) throw new BooksError('a position would be short')
  const positions = qty === 0n ? others : { ...others, [symbol]: { qty, locked } }
  return { ...portfolio, positions }
}
