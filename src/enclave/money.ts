// The money of an order: how amounts are rounded, what an order locks, and what a fill is worth. Pure: every function returns a
// new value. Everything else in the enclave that moves money calls this file.
import { type BrokerOrder, fillValue } from '../broker/index.js'
import { type FeeSchedule, feesOfSale } from '../protocol/fees.js'
import type { Hex } from '../protocol/hex.js'
import type { OpenOrder, Portfolio, Position } from '../protocol/portfolio.js'
import { notionalOf, ONE_SHARE, ONE_USDC, sharesFor, toCents } from '../protocol/units.js'

/** How an intent names cash in a withdrawal or a deposit. */
export const USDC = 'USDC'

/** The broker's smallest order by amount, in USDC base units. */
const BROKER_MINIMUM = ONE_USDC

/** How much more than its amount a buy may cost, in basis points: the broker rounds, and its fills are at market prices. */
const COST_TOLERANCE = 50n
const BASIS_POINTS = 10_000n

/** Books that do not add up. Nothing is written then. */
export class BooksError extends Error {
  override readonly name = 'BooksError'
}

const NOTHING: Position = { qty: 0n, locked: 0n }

/** The smaller of two amounts. */
export function min(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}

/** The larger of two amounts. */
export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

/** The amount by which the broker knows a buy: whole cents, never more than the account allowed. */
export function notionalAtBroker(amount: bigint): bigint {
  return toCents(amount, 'down')
}

/** Whether the broker takes a buy or a sale of this amount. */
export function meetsBrokerMinimum(amount: bigint): boolean {
  return notionalAtBroker(amount) >= BROKER_MINIMUM
}

/**
 * The worth of shares, in USDC base units. Rounded up: rounding their quantity down has cost less than one unit of the
 * amount.
 */
export function worthOf(qty: bigint, price: bigint): bigint {
  return notionalOf(qty, price, 'up')
}

/**
 * Sizes a sale of `amount` USDC at `price`. A sale is a quantity: by amount, it would sell other accounts' shares when the
 * price falls.
 * @param available share base units that the sale may lock
 * @returns the share base units to sell, which the order locks, and their worth; whether fewer were available than the amount needs,
 *   and whether the broker takes this quantity
 */
export function sizeSale(amount: bigint, price: bigint, available: bigint) {
  const needed = sharesFor(amount, price)
  const qty = min(needed, available)
  const value = worthOf(qty, price)
  return { qty, value, isShort: available < needed, isTradable: isSaleTradable(qty, value) }
}

/** Whether the broker takes a sale of this quantity and worth: its minimum does not bind whole shares. */
export function isSaleTradable(qty: bigint, value: bigint): boolean {
  return value >= BROKER_MINIMUM || (qty > 0n && qty % ONE_SHARE === 0n)
}

/** The cost of a buy's fill for its account, in USDC base units: rounded up to the cent. */
export function costOf(fill: Pick<BrokerOrder, 'fills'>): bigint {
  return toCents(fillValue(fill, 'up'), 'up')
}

/** How far a buy's fill went beyond its amount. The platform bears a tolerated overrun, and settles no order beyond it. */
export function overrunOf(notional: bigint, fill: BrokerOrder): 'none' | 'tolerated' | 'beyond' {
  const [cost, most] = [fillValue(fill, 'up'), notionalAtBroker(notional)]
  if (cost <= most) return 'none'
  return cost * BASIS_POINTS > most * (BASIS_POINTS + COST_TOLERANCE) ? 'beyond' : 'tolerated'
}

/**
 * The value of a fill for its account. A buy's cost is never above its notional. A sale's proceeds are rounded down to the
 * cent. Its fees take no more than it brings, so that a position can be sold to its end.
 */
export function tradeOf(
  { side, notional }: Pick<OpenOrder, 'side' | 'notional'>,
  fill: Pick<BrokerOrder, 'filledQty' | 'fills'>,
  fees: FeeSchedule,
): { value: bigint; fees: bigint } {
  if (side !== 'SELL') return { value: min(costOf(fill), notional), fees: 0n }
  const value = toCents(fillValue(fill, 'down'), 'down')
  return { value, fees: min(feesOfSale(fees, fill.filledQty, fillValue(fill, 'up')), value) }
}

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
 * @param credited USDC that the platform took over for it from the escrow: the part that the buy did not cost becomes cash
 * @param qty share base units that its fills are today, where splits came after them
 */
export function withFill(
  portfolio: Portfolio,
  orderId: Hex,
  fill: BrokerOrder,
  { credited, fees, qty = fill.filledQty }: { credited: bigint; fees: FeeSchedule; qty?: bigint },
): Portfolio {
  const order = portfolio.openOrders[orderId]
  if (!order) throw new BooksError('the order is not written ahead')
  const { value, fees: taken } = tradeOf(order, fill, fees)
  return withTrade(portfolio, orderId, { qty, value: value - taken }, credited)
}

/**
 * Removes an order that ended with this trade.
 * @param trade.qty share base units bought or sold
 * @param trade.value USDC base units that they cost, or brought after fees
 * @param credited as in `withFill`
 */
export function withTrade(
  portfolio: Portfolio,
  orderId: Hex,
  { qty, value }: { qty: bigint; value: bigint },
  credited: bigint,
): Portfolio {
  const order = portfolio.openOrders[orderId]
  if (!order) throw new BooksError('the order is not written ahead')
  const released = withoutOrder(portfolio, orderId)
  if (order.side === 'SELL') {
    if (qty > order.locked) throw new BooksError('more was sold than the order locked')
    return withCash(moved(released, order.symbol, { qty: -qty, locked: 0n }), value)
  }
  return withCash(moved(released, order.symbol, { qty, locked: 0n }), credited - value)
}

/** Takes a withdrawal of cash or shares out of a portfolio. */
export function withoutPayout(portfolio: Portfolio, asset: string, amount: bigint): Portfolio {
  return asset === USDC ? withCash(portfolio, -amount) : moved(portfolio, asset, { qty: -amount, locked: 0n })
}

/** Adds a deposit of cash or shares to a portfolio. */
export function withDeposit(portfolio: Portfolio, asset: string, amount: bigint): Portfolio {
  return asset === USDC ? withCash(portfolio, amount) : moved(portfolio, asset, { qty: amount, locked: 0n })
}

function withCash(portfolio: Portfolio, change: bigint): Portfolio {
  const cash = portfolio.cash + change
  if (cash < 0n) throw new BooksError('cash would be negative')
  return { ...portfolio, cash }
}

function moved(portfolio: Portfolio, symbol: string, change: Position): Portfolio {
  const { [symbol]: before = NOTHING, ...others } = portfolio.positions
  const qty = before.qty + change.qty
  const locked = before.locked + change.locked
  if (locked < 0n || qty < locked) throw new BooksError('a position would be short')
  const positions = qty === 0n ? others : { ...others, [symbol]: { qty, locked } }
  return { ...portfolio, positions }
}
