import type { MarketView, Portfolio } from '../../src/client/index.js'
import { freeCash } from '../../src/protocol/portfolio.js'
import { notionalOf } from '../../src/protocol/units.js'

/** One line of the portfolio. */
export interface Holding {
  readonly symbol: string
  readonly qty: bigint
  readonly locked: bigint
  /** USDC base units; null without a price. */
  readonly value: bigint | null
}

export interface Valuation {
  readonly holdings: readonly Holding[]
  /** USDC base units that no open order uses. */
  readonly cash: bigint
  /** USDC base units in open buys: held by the escrow, or reserved from the cash. */
  readonly inOrders: bigint
  /** Cash, money in open orders and all priced holdings, in USDC base units. */
  readonly total: bigint
  /** Symbols without a price, excluded from the total. */
  readonly unpriced: readonly string[]
}

/** The portfolio's value at these prices. */
export function valuationOf(
  portfolio: Pick<Portfolio, 'cash' | 'positions' | 'openOrders'>,
  symbols: MarketView['symbols'],
): Valuation {
  const { positions, openOrders } = portfolio
  const cash = freeCash(portfolio)
  const escrowed = Object.values(openOrders).reduce((sum, { escrow }) => sum + escrow, 0n)
  const inOrders = portfolio.cash - cash + escrowed
  const prices = new Map(symbols.map(({ symbol, price }) => [symbol, price]))
  const holdings = Object.entries(positions).map(([symbol, { qty, locked }]) => {
    const price = prices.get(symbol) ?? null
    return { symbol, qty, locked, value: price === null ? null : notionalOf(qty, price, 'down') }
  })
  return {
    holdings: holdings.sort((a, b) => a.symbol.localeCompare(b.symbol)),
    ...{ cash, inOrders },
    total: holdings.reduce((sum, { value }) => sum + (value ?? 0n), cash + inOrders),
    unpriced: holdings.filter(({ value }) => value === null).map(({ symbol }) => symbol),
  }
}
