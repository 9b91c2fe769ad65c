// Derives an account's holdings, payments and gains from its history. Pure, in whole base units.
import type { CorporateAction } from '../../protocol/corporateActions.js'
import { dividedBy, floor, ONE, type Ratio, ratio, times } from '../../protocol/ratio.js'
import { divide, notionalOf, ONE_SHARE } from '../../protocol/units.js'
import type { HistoryEntry } from './entries.js'

/** The shares of one symbol. */
export interface Holding {
  /** Share base units, locked ones included. */
  readonly shares: bigint
  /**
   * USDC base units that these shares cost, at average cost; null once shares came in at an unknown cost, until all are gone.
   */
  readonly cost: bigint | null
}

/** The state after some entries. Every amount is in USDC base units. */
export interface Holdings {
  readonly cash: bigint
  /** By symbol; without sold-out ones. */
  readonly positions: Readonly<Record<string, Holding>>
  /** Gains of sales by symbol, net of fees, with the cash that mergers and their like paid for shares; losses are negative. */
  readonly realised: Readonly<Record<string, bigint>>
  /** Cash dividends by symbol, net of withholding. */
  readonly dividends: Readonly<Record<string, bigint>>
  /** USDC that came out of the wallet: the escrows of settled buys, and deposits. */
  readonly paidIn: bigint
  /** USDC that went to the wallet, and withdrawn shares at their average cost. */
  readonly paidOut: bigint
  /** False once an entry moved cash or shares at an unknown cost: then gains and totals are incomplete. */
  readonly isComplete: boolean
}

/** Prices by symbol: USDC base units for one share. */
export type Prices = Readonly<Record<string, bigint>>

const NO_HOLDINGS: Holdings = {
  cash: 0n,
  positions: {},
  realised: {},
  dividends: {},
  paidIn: 0n,
  paidOut: 0n,
  isComplete: true,
}

/**
 * Holdings by the method of average cost: a sale or a withdrawal takes the same part of the cost as of the shares, rounded
 * down. The remainder stays with the shares that are left, so the last sale takes all of it.
 * @param entries oldest first
 * @example const { cash, positions } = holdingsOf(entries)
 */
export function holdingsOf(entries: Iterable<HistoryEntry>, before: Holdings = NO_HOLDINGS): Holdings {
  let holdings = before
  for (const entry of entries) holdings = afterEntry(holdings, entry)
  return holdings
}

/** The holdings after one more entry. */
function afterEntry(holdings: Holdings, entry: HistoryEntry): Holdings {
  switch (entry.kind) {
    case 'bought': {
      const { symbol, shares, cost, escrowed } = entry
      const paid = { ...holdings, paidIn: holdings.paidIn + escrowed }
      return withCash(withAdded(paid, symbol, { shares, cost }), escrowed - cost)
    }
    case 'sold': {
      const { symbol, shares, proceeds } = entry
      const { rest, cost } = withTaken(holdings, symbol, shares)
      return withCash(withGain(rest, symbol, cost === null ? null : proceeds - cost), proceeds)
    }
    case 'cash-withdrawn':
      return { ...withCash(holdings, -entry.amount), paidOut: holdings.paidOut + entry.amount }
    case 'cash-deposited':
      return { ...withCash(holdings, entry.amount), paidIn: holdings.paidIn + entry.amount }
    case 'shares-withdrawn': {
      const { rest, cost } = withTaken(holdings, entry.symbol, entry.shares)
      return cost === null ? incomplete(rest) : { ...rest, paidOut: rest.paidOut + cost }
    }
    case 'shares-deposited':
      return incomplete(withAdded(holdings, entry.symbol, { shares: entry.shares, cost: null }))
    case 'carried':
      return afterAction(holdings, entry)
    case 'moved':
    case 'adjusted':
      return incomplete(Object.entries(entry.shares).reduce(adjusted, withCash(holdings, entry.cash)))
    default:
      return holdings
  }
}

/**
 * A split keeps the cost, a new symbol takes it over, and that of removed shares is a loss. The cash of a merger is a gain beside that
 * loss, whichever comes first; cash for a part of the shares is one too, and leaves them their cost.
 */
function afterAction(
  holdings: Holdings,
  { action: { symbol }, cash, shares, paidFor }: Extract<HistoryEntry, { kind: 'carried' }>,
): Holdings {
  if (cash !== 0n) {
    const paid = withCash(holdings, cash)
    if (paidFor !== null) return withGain(paid, symbol, cash)
    return { ...paid, dividends: plusAt(paid.dividends, symbol, cash) }
  }
  const before = holdings.positions[symbol]
  if (before === undefined) return holdings
  const { [symbol]: change = 0n, ...others } = shares
  const left = before.shares + change
  if (left > 0n) return withPosition(holdings, symbol, { ...before, shares: left })
  const gone = withPosition(holdings, symbol, { shares: 0n, cost: null })
  const [[successor, gained] = [undefined, 0n]] = Object.entries(others)
  if (successor !== undefined) return withAdded(gone, successor, { shares: gained, cost: before.cost })
  return withGain(gone, symbol, before.cost === null ? null : -before.cost)
}

function adjusted(holdings: Holdings, [symbol, shares]: readonly [string, bigint]): Holdings {
  if (shares > 0n) return withAdded(holdings, symbol, { shares, cost: null })
  return withTaken(holdings, symbol, -shares).rest
}

function incomplete(holdings: Holdings): Holdings {
  return { ...holdings, isComplete: false }
}

function withCash(holdings: Holdings, change: bigint): Holdings {
  return { ...holdings, cash: holdings.cash + change }
}

function withAdded(holdings: Holdings, symbol: string, added: Holding): Holdings {
  const before = holdings.positions[symbol] ?? { shares: 0n, cost: 0n }
  const cost = before.cost === null || added.cost === null ? null : before.cost + added.cost
  return withPosition(holdings, symbol, { shares: before.shares + added.shares, cost })
}

/** Takes shares out, with their part of the cost. */
function withTaken(
  holdings: Holdings,
  symbol: string,
  shares: bigint,
): { readonly rest: Holdings; readonly cost: bigint | null } {
  const before = holdings.positions[symbol] ?? { shares: 0n, cost: null }
  const left = before.shares - shares
  if (before.cost === null || shares > before.shares) {
    return { rest: withPosition(holdings, symbol, { shares: left, cost: null }), cost: null }
  }
  const cost = before.shares === 0n ? 0n : divide(before.cost * shares, before.shares, 'down')
  return { rest: withPosition(holdings, symbol, { shares: left, cost: before.cost - cost }), cost }
}

function withPosition(holdings: Holdings, symbol: string, position: Holding): Holdings {
  const { [symbol]: _, ...others } = holdings.positions
  return { ...holdings, positions: position.shares === 0n ? others : { ...others, [symbol]: position } }
}

function withGain(holdings: Holdings, symbol: string, gain: bigint | null): Holdings {
  if (gain === null) return incomplete(holdings)
  return { ...holdings, realised: plusAt(holdings.realised, symbol, gain) }
}

function plusAt(amounts: Readonly<Record<string, bigint>>, symbol: string, amount: bigint) {
  return { ...amounts, [symbol]: (amounts[symbol] ?? 0n) + amount }
}

/**
 * Average cost of one share, rounded down; null if it is unknown.
 * @example const cost = averageCost({ shares: 2_000_000_000n, cost: 500_000_000n }) // 250_000_000n
 */
export function averageCost({ shares, cost }: Holding): bigint | null {
  return cost === null || shares <= 0n ? null : divide(cost * ONE_SHARE, shares, 'down')
}

/**
 * The gain of selling at that price, before fees; null if the cost is unknown.
 * @example const gain = unrealisedGain({ shares: 2_000_000_000n, cost: 500_000_000n }, 300_000_000n) // 100_000_000n
 */
export function unrealisedGain({ shares, cost }: Holding, price: bigint): bigint | null {
  return cost === null ? null : notionalOf(shares, price, 'down') - cost
}

/**
 * Cash and shares at these prices; null if a held symbol has no price.
 * @example const value = valueAt(holdingsOf(entries), { AAPL: 211_790_000n })
 */
export function valueAt(
  { cash, positions }: Pick<Holdings, 'cash' | 'positions'>,
  prices: Prices,
): bigint | null {
  let value = cash
  for (const [symbol, { shares }] of Object.entries(positions)) {
    const price = prices[symbol]
    if (price === undefined) return null
    value += notionalOf(shares, price, 'down')
  }
  return value
}

/** Prices at a time, Unix seconds. */
export interface PricePoint {
  readonly timestamp: number
  readonly prices: Prices
}

/** The portfolio at one time. */
export interface ValuePoint {
  readonly timestamp: number
  readonly holdings: Holdings
  /** Null if a held symbol has no price at that time. USDC in the escrow of an open order does not count. */
  readonly value: bigint | null
  /** Realised and unrealised: `value + paidOut - paidIn`; null without a value, or if the holdings are incomplete. */
  readonly gain: bigint | null
}

/**
 * The portfolio's value over time. A split, a new symbol and a removal count from their record moment on, as prices do, although they
 * enter the list later.
 * @param entries oldest first
 * @param points in the order of time
 * @example const curve = valueOverTime(entries, [{ timestamp: 1_800_000_000, prices: { AAPL: 211_790_000n } }])
 */
export function valueOverTime(
  entries: readonly HistoryEntry[],
  points: readonly PricePoint[],
): readonly ValuePoint[] {
  const dated = entries.map((entry) => ({ entry, at: pricedAt(entry) })).sort((one, two) => one.at - two.at)
  let holdings = NO_HOLDINGS
  let next = 0
  return points.map(({ timestamp, prices }) => {
    for (let first = dated[next]; first && first.at <= timestamp; first = dated[++next]) {
      holdings = afterEntry(holdings, first.entry)
    }
    const value = valueAt(holdings, prices)
    const { paidIn, paidOut, isComplete } = holdings
    return {
      timestamp,
      holdings,
      value,
      gain: value === null || !isComplete ? null : value + paidOut - paidIn,
    }
  })
}

/** When prices are in the units of after an entry. */
function pricedAt(entry: HistoryEntry): number {
  if (entry.kind !== 'carried' || entry.action.kind === 'PAYMENT') return entry.timestamp
  return Math.min(entry.timestamp, entry.action.recordAt)
}

/**
 * The price of each entry that is a trade, in the shares of after the last entry, rounded down; null for the others. A purchase at 200
 * before a split of 4:1 was one at 50.
 * @param entries oldest first
 * @example const prices = adjustedPrices(entries)
 */
export function adjustedPrices(entries: readonly HistoryEntry[]): readonly (bigint | null)[] {
  /** Today's shares for one share of a symbol, as of the entry that is looked at. */
  const ratios = new Map<string, Ratio>()
  const ratioOf = (symbol: string) => ratios.get(symbol) ?? ONE
  const prices = entries.toReversed().map((entry) => {
    if (entry.kind === 'carried') ratios.set(entry.action.symbol, ratioBefore(entry.action))
    if ((entry.kind !== 'bought' && entry.kind !== 'sold') || entry.price === null) return null
    return floor(dividedBy(ratio(entry.price), ratioOf(entry.symbol)))
  })
  return prices.toReversed()

  function ratioBefore(action: CorporateAction): Ratio {
    if (action.kind === 'SYMBOL_CHANGE') return ratioOf(action.successor)
    const isRatio = action.kind === 'SPLIT' || action.kind === 'STOCK_DIVIDEND'
    const after = ratioOf(action.symbol)
    return isRatio ? times(after, ratio(action.numerator, action.denominator)) : after
  }
}
