// Derives an account's holdings, payments and gains from its history. Pure, in whole base units.
import { type CorporateAction, isRatio } from '../../protocol/corporateActions.js'
import { dividedBy, floor, ONE, type Ratio, ratio, times } from '../../protocol/ratio.js'
import { divide, notionalOf, ONE_SHARE } from '../../protocol/units.js'
import { effectOf, type HistoryEntry, type HistoryKind, NO_BALANCE, plus } from './entries.js'
import { createBooks, type Disposal } from './lots.js'

/** The shares of one symbol. */
export interface Holding {
  /** Share base units, locked ones included. */
  readonly shares: bigint
  /**
   * USDC base units that these shares cost, by their lots; null once shares came in at an unknown cost, until those are gone.
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
  /** USDC that went to the wallet, and the cost of withdrawn shares. */
  readonly paidOut: bigint
  /** False once an entry moved cash or shares at an unknown cost: then gains and totals are incomplete. */
  readonly isComplete: boolean
}

/** Prices by symbol: USDC base units for one share. */
export type Prices = Readonly<Record<string, bigint>>

/**
 * Holdings by tax lots, as statements have them: a sale or a withdrawal takes the shares that came in first, with their cost.
 * @param entries oldest first, from the account's first event on
 * @example const { cash, positions } = holdingsOf(entries)
 */
export function holdingsOf(entries: Iterable<HistoryEntry>): Holdings {
  const running = createRunning()
  for (const entry of entries) running.enter(entry)
  return running.holdings()
}

/** The holdings, entry by entry. */
function createRunning() {
  const books = createBooks()
  const [realised, dividends] = [new Map<string, bigint>(), new Map<string, bigint>()]
  let balance = NO_BALANCE
  let [paidIn, paidOut, isComplete, counted] = [0n, 0n, true, 0]

  /** Cash for a part of the shares is a gain in full: they keep their cost. */
  function realise({ symbol, shares, proceeds, cost }: Disposal): void {
    if (shares === null) plusAt(realised, symbol, proceeds)
    else if (cost === null) isComplete = false
    else plusAt(realised, symbol, proceeds - cost)
  }

  return {
    enter(entry: HistoryEntry): void {
      const left = books.enter(entry)
      balance = plus(balance, effectOf(entry))
      for (const disposal of books.disposals.slice(counted)) realise(disposal)
      counted = books.disposals.length
      if (entry.kind === 'bought') paidIn += entry.escrowed
      else if (entry.kind === 'cash-deposited') paidIn += entry.usdc
      else if (entry.kind === 'cash-withdrawn') paidOut += entry.usdc
      else if (entry.kind === 'shares-withdrawn') paidOut += left ?? 0n
      else if (entry.kind === 'carried' && entry.paidFor === null && entry.cash !== 0n)
        plusAt(dividends, entry.action.symbol, entry.cash)
      if (left === null || UNKNOWN_COSTS.has(entry.kind)) isComplete = false
    },
    holdings(): Holdings {
      const positions = Object.entries(balance.shares).map(
        ([symbol, shares]) => [symbol, { shares, cost: shares > 0n ? books.costOf(symbol) : null }] as const,
      )
      return {
        ...{ cash: balance.cash, positions: Object.fromEntries(positions), paidIn, paidOut, isComplete },
        ...{ realised: Object.fromEntries(realised), dividends: Object.fromEntries(dividends) },
      }
    },
  }
}

/** What moves shares or cash that cost nobody knows what. */
const UNKNOWN_COSTS: ReadonlySet<HistoryKind> = new Set(['shares-deposited', 'moved', 'adjusted'])

function plusAt(amounts: Map<string, bigint>, symbol: string, amount: bigint): void {
  amounts.set(symbol, (amounts.get(symbol) ?? 0n) + amount)
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
  const running = createRunning()
  let next = 0
  return points.map(({ timestamp, prices }) => {
    for (let first = dated[next]; first && first.at <= timestamp; first = dated[++next])
      running.enter(first.entry)
    const holdings = running.holdings()
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
    const after = ratioOf(action.symbol)
    return isRatio(action) ? times(after, ratio(action.numerator, action.denominator)) : after
  }
}
