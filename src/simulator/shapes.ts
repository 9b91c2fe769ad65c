import { formatDecimal, PRICE_DECIMALS, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
import { type Listing, type Market, uuidOf } from './market.js'
import {
  averagePrice,
  formatCash,
  isLive,
  pendingFees,
  reservedCash,
  reservedQty,
  shownCash,
} from './money.js'
import type { StandInAccount, StandInOrder, StandInPosition } from './types.js'

// Alpaca's documented JSON, member for member. Quantities and money are decimal strings in the trading API and
// numbers in the market data API.

const shares = (qty: bigint) => formatDecimal(qty, SHARE_DECIMALS)
const price = (units: bigint) => formatDecimal(units, PRICE_DECIMALS)
const priceNumber = (units: bigint) => Number(price(units))

/** RFC 3339 in UTC with nanoseconds, as Alpaca writes the times of orders and trades. */
export function nanoTime(date: Date): string {
  return date.toISOString().replace('Z', '000000Z')
}

export function orderJson(order: StandInOrder) {
  const endedAs = (status: StandInOrder['status']) =>
    order.status === status && order.endedAt ? nanoTime(order.endedAt) : null
  return {
    id: order.id,
    client_order_id: order.clientOrderId,
    created_at: nanoTime(order.createdAt),
    updated_at: nanoTime(order.updatedAt),
    submitted_at: nanoTime(order.createdAt),
    filled_at: endedAs('filled'),
    expires_at: `${order.expiresAt.toISOString().slice(0, 19)}Z`,
    expired_at: endedAs('expired'),
    canceled_at: endedAs('canceled'),
    failed_at: endedAs('rejected'),
    replaced_at: endedAs('replaced'),
    replaced_by: order.replacedBy,
    replaces: order.replaces,
    asset_id: uuidOf(`asset:${order.symbol}`),
    symbol: order.symbol,
    asset_class: 'us_equity',
    notional: order.notional === null ? null : formatDecimal(order.notional, USDC_DECIMALS),
    qty: order.qty === null ? null : shares(order.qty),
    ...filledQtyOf(order),
    filled_avg_price: order.filledQty === 0n ? null : averagePrice(order.filledValue, order.filledQty),
    order_class: '',
    order_type: order.limitPrice === null ? 'market' : 'limit',
    type: order.limitPrice === null ? 'market' : 'limit',
    side: order.side,
    position_intent: order.side === 'buy' ? 'buy_to_open' : 'sell_to_close',
    time_in_force: 'day',
    limit_price: order.limitPrice === null ? null : price(order.limitPrice),
    stop_price: null,
    status: order.status,
    extended_hours: false,
    legs: null,
    trail_percent: null,
    trail_price: null,
    hwm: null,
    subtag: null,
    source: null,
  }
}

/** A decimal, unless the behaviour states it differently once the order has ended. */
function filledQtyOf(order: StandInOrder): { filled_qty?: string | null } {
  const { behaviour, filledQty } = order
  if (behaviour.filledQty === undefined || isLive(order)) return { filled_qty: shares(filledQty) }
  return behaviour.filledQty === 'null' ? { filled_qty: null } : {}
}

export function assetJson(listing: Listing) {
  return {
    id: listing.id,
    class: 'us_equity',
    exchange: 'NASDAQ',
    symbol: listing.symbol,
    name: listing.name,
    status: listing.status,
    tradable: listing.tradable,
    marginable: true,
    shortable: true,
    easy_to_borrow: true,
    fractionable: listing.fractionable,
    maintenance_margin_requirement: 30,
    attributes: [],
  }
}

export function positionJson(account: StandInAccount, listing: Listing, position: StandInPosition) {
  const value = position.qty * listing.last
  const gain = value - position.cost
  const dayGain = position.qty * (listing.last - listing.previousClose)
  const free = position.qty - reservedQty(account, listing.symbol, listing.bid)
  return {
    asset_id: listing.id,
    symbol: listing.symbol,
    exchange: 'NASDAQ',
    asset_class: 'us_equity',
    asset_marginable: true,
    avg_entry_price: averagePrice(position.cost, position.qty),
    qty: shares(position.qty),
    qty_available: shares(free > 0n ? free : 0n),
    side: 'long',
    market_value: formatCash(value),
    cost_basis: formatCash(position.cost),
    unrealized_pl: formatCash(gain),
    unrealized_plpc: ratio(gain, position.cost),
    unrealized_intraday_pl: formatCash(dayGain),
    unrealized_intraday_plpc: ratio(dayGain, position.cost),
    current_price: price(listing.last),
    lastday_price: price(listing.previousClose),
    change_today: ratio(listing.last - listing.previousClose, listing.previousClose),
  }
}

export function accountJson(account: StandInAccount, market: Market) {
  const held = [...account.positions].map(([symbol, { qty }]) => qty * market.listing(symbol).last)
  const invested = formatCash(held.reduce((sum, value) => sum + value, 0n))
  const cash = shownCash(account)
  const fees = formatCash(pendingFees(account))
  const equity = formatCash(held.reduce((sum, value) => sum + value, cash))
  const free = cash - reservedCash(account, (symbol) => market.listing(symbol).ask)
  const buyingPower = formatCash(free > 0n ? free : 0n)
  return {
    id: account.id,
    admin_configurations: {},
    user_configurations: null,
    account_number: account.number,
    status: 'ACTIVE',
    crypto_status: 'INACTIVE',
    currency: 'USD',
    buying_power: buyingPower,
    regt_buying_power: buyingPower,
    daytrading_buying_power: '0',
    options_buying_power: buyingPower,
    effective_buying_power: buyingPower,
    non_marginable_buying_power: buyingPower,
    bod_dtbp: 0,
    cash: formatCash(cash),
    accrued_fees: fees,
    pending_transfer_in: '0',
    portfolio_value: equity,
    pattern_day_trader: false,
    trading_blocked: false,
    transfers_blocked: false,
    account_blocked: false,
    created_at: nanoTime(account.createdAt),
    trade_suspended_by_user: false,
    multiplier: '1',
    shorting_enabled: false,
    equity,
    last_equity: equity,
    long_market_value: invested,
    short_market_value: '0',
    position_market_value: invested,
    initial_margin: '0',
    maintenance_margin: '0',
    last_maintenance_margin: '0',
    sma: '0',
    daytrade_count: 0,
    balance_asof: account.createdAt.toISOString().slice(0, 10),
    crypto_tier: 0,
    options_trading_level: 0,
    intraday_adjustments: '0',
    pending_reg_taf_fees: fees,
  }
}

export function snapshotJson(listing: Listing, now: Date) {
  const { omit } = listing
  const close = priceNumber(listing.previousClose)
  const day = bar(now, close, priceNumber(listing.high), priceNumber(listing.low), priceNumber(listing.last))
  const before = bar(new Date(now.getTime() - 86_400_000), close, close, close, close)
  const members = {
    latestTrade: {
      t: nanoTime(listing.tradedAt),
      x: 'V',
      p: priceNumber(listing.last),
      s: 100,
      c: ['@'],
      i: 1,
      z: 'C',
    },
    latestQuote: {
      t: nanoTime(listing.tradedAt),
      ax: 'V',
      ap: priceNumber(listing.ask),
      as: 1,
      bx: 'V',
      bp: priceNumber(listing.bid),
      bs: 1,
      c: ['R'],
      z: 'C',
    },
    minuteBar: day,
    dailyBar: day,
    prevDailyBar: before,
  }
  return Object.fromEntries(
    Object.entries(members).filter(
      ([member]) => omit !== 'all' && ![...omit].some((name) => name === member),
    ),
  )
}

/** When the bar of a day begins. */
export function dayBarTime(at: Date): string {
  return `${at.toISOString().slice(0, 10)}T04:00:00Z`
}

function bar(at: Date, o: number, h: number, l: number, c: number) {
  return { t: dayBarTime(at), o, h, l, c, v: 1000, n: 10, vw: c }
}

/** A ratio with six decimals, in plain decimals. */
function ratio(part: bigint, whole: bigint): string {
  return whole === 0n ? '0' : formatDecimal((part * 1_000_000n) / whole, 6)
}
