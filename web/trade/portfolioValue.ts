import { averageCost, type Holdings, unrealisedGain } from '../../src/client/history.js'
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
  /** USDC base units that a share cost on average, and that these shares cost; null while that is unknown. */
  readonly average: bigint | null
  readonly cost: bigint | null
  /** The gain of a sale at the current price, before fees; null without a price or a cost. */
  readonly gain: bigint | null
}

/** Gains of all holdings, of all sales so far, and dividends, in USDC base units. */
export interface Gains {
  readonly unrealised: bigint
  readonly realised: bigint
  readonly dividends: bigint
}

interface Valuation {
  readonly holdings: readonly Holding[]
  /** USDC base units that no open order uses. */
  readonly cash: bigint
  /** USDC base units in open buys: held by the escrow, or reserved from the cash. */
  readonly inOrders: bigint
  /** Cash, money in open orders and all priced holdings, in USDC base units. */
  readonly total: bigint
  /** Symbols without a price, excluded from the total. */
  readonly unpriced: readonly string[]
  /** Null while the gain of a holding is unknown, or the cost of shares that were sold. */
  readonly gains: Gains | null
}

/** The portfolio's value at these prices. @param held what the history says about it; null until that is read */
export function valuationOf(
  portfolio: Pick<Portfolio, 'cash' | 'positions' | 'openOrders'>,
  symbols: MarketView['symbols'],
  held: Holdings | null,
): Valuation {
  const { positions, openOrders } = portfolio
  const cash = freeCash(portfolio)
  const escrowed = Object.values(openOrders).reduce((sum, { escrow }) => sum + escrow, 0n)
  const inOrders = portfolio.cash - cash + escrowed
  const prices = new Map(symbols.map(({ symbol, price }) => [symbol, price]))
  const holdings = Object.entries(positions).map(([symbol, { qty, locked }]) => {
    const price = prices.get(symbol) ?? null
    const found = held?.positions[symbol]
    // The history may be a moment behind the portfolio, or ahead of it.
    const holding = found?.shares === qty ? found : null
    return {
      ...{ symbol, qty, locked },
      value: price === null ? null : notionalOf(qty, price, 'down'),
      average: holding && averageCost(holding),
      cost: holding?.cost ?? null,
      gain: holding === null || price === null ? null : unrealisedGain(holding, price),
    }
  })
  return {
    holdings: holdings.sort((a, b) => a.symbol.localeCompare(b.symbol)),
    ...{ cash, inOrders },
    total: holdings.reduce((sum, { value }) => sum + (value ?? 0n), cash + inOrders),
    unpriced: holdings.filter(({ value }) => value === null).map(({ symbol }) => symbol),
    gains: gainsOf(holdings, held),
  }
}

function gainsOf(holdings: readonly Holding[], held: Holdings | null): Gains | null {
  const gains = holdings.flatMap(({ gain }) => (gain === null ? [] : [gain]))
  if (held === null || !held.isComplete || gains.length < holdings.length) return null
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const [realised, dividends] = [held.realised, held.dividends].map((all) => sum(Object.values(all)))
  return { unrealised: sum(gains), realised: realised ?? 0n, dividends: dividends ?? 0n }
}
