// The room in a portfolio, whose blobs are bounded: one that did not fit could never be written again. Pure.
import * as z from 'zod'
import { MAX_PORTFOLIO_BYTES } from '../protocol/ledgerBlob.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'

/** What the mark `never-placed` adds to an order. */
const MARK_BYTES = 12
/** What a split, at most ten thousand for one, adds to a number. */
const RATIO_DIGITS = 4
/** The digits of the longest index of an entitlement. */
const INDEX_DIGITS = 10
/** The shares of a buy that has not been filled: ten million of them. */
const BOUGHT_DIGITS = 16
/** A longer cash after payouts of dividends, a time and a number of actions. */
const SPARE_BYTES = 128
/** The longest entry of a sale, with a limit and what it locks: an account whose portfolio is full can sell. */
const SALE_BYTES = 448

/** Whether a portfolio can be written at all. */
export function fits(portfolio: Portfolio): boolean {
  return bytesOf(portfolio) <= MAX_PORTFOLIO_BYTES
}

/**
 * Whether a portfolio has room for what comes to it without an order: the mark of each open order, a split and one unpaid dividend of each
 * symbol. The end of an order in hand needs none: an entry is longer than the position, or the cash, that it becomes.
 * @param spareSale whether it must leave room for a sale besides
 */
export function hasRoom(portfolio: Portfolio, { spareSale }: { spareSale: boolean }): boolean {
  const { entitlements, ...others } = portfolio
  const held = bytesOf(others)
  const marks = Object.keys(others.openOrders).length * MARK_BYTES
  const dividends = Math.max(bytesOf(portfolio) - held, bytesToCome(others))
  const needed = held + marks + dividends + SPARE_BYTES
  return needed + (spareSale ? SALE_BYTES : 0) <= MAX_PORTFOLIO_BYTES
}

/** The entitlements that may come, one of each symbol, and the digits of as many splits. */
function bytesToCome({ positions, openOrders }: Portfolio): number {
  const digits = new Map(Object.entries(positions).map(([symbol, { qty }]) => [symbol, String(qty).length]))
  for (const { side, symbol } of Object.values(openOrders)) {
    if (side === 'BUY') digits.set(symbol, Math.max(digits.get(symbol) ?? 0, BOUGHT_DIGITS))
  }
  const each = '"":"",'.length + INDEX_DIGITS + 3 * RATIO_DIGITS
  return [...digits.values()].reduce((sum, count) => sum + count + each, 0)
}

function bytesOf(portfolio: Portfolio): number {
  return JSON.stringify(z.encode(portfolioSchema, portfolio)).length
}
