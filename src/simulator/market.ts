import { createHash } from 'node:crypto'
import { formatDecimal, PRICE_DECIMALS, parseDecimal } from '../protocol/units.js'
import type { StandInSymbol } from './types.js'

const ONE_CENT = 10_000n
/** The largest price move of one step, in hundredths of a percent. */
const MAX_STEP_BPS = 10
/** The stand-in knows bars of a quarter of an hour alone. */
export const BAR_MS = 900_000

/** One symbol: prices are USD with 6 decimals. */
export interface Listing {
  readonly id: string
  readonly symbol: string
  readonly name: string
  status: 'active' | 'inactive'
  tradable: boolean
  fractionable: boolean
  last: bigint
  bid: bigint
  ask: bigint
  high: bigint
  low: bigint
  readonly previousClose: bigint
  tradedAt: Date
  /** The trading since the stand-in began, by the start of its quarter of an hour in Unix milliseconds. */
  readonly traded: Map<number, { open: bigint; high: bigint; low: bigint; close: bigint }>
  /** Its splits, with the start of the quarter of an hour that each came in: `numerator` shares for `denominator`. */
  readonly splits: { readonly at: number; readonly numerator: bigint; readonly denominator: bigint }[]
  /** Members omitted from the snapshot; `all` omits the symbol. */
  omit: ReadonlySet<'latestTrade' | 'latestQuote' | 'minuteBar' | 'dailyBar' | 'prevDailyBar'> | 'all'
}

/** Prices and assets. The same seed, symbols and steps give the same prices. */
export function createMarket(options: {
  readonly seed: number
  readonly symbols: readonly StandInSymbol[]
  readonly now: () => Date
  /** Called when a symbol has a new price. */
  readonly onPrice: (symbol: string) => void
}) {
  const random = createRandom(options.seed)
  const listings = new Map(options.symbols.map((entry) => [entry.symbol, newListing(entry, options.now())]))

  const market = {
    listings,
    /** @throws RangeError if the symbol is not listed */
    listing(symbol: string): Listing {
      const listing = listings.get(symbol)
      if (!listing) throw new RangeError(`no such symbol: ${symbol}`)
      return listing
    },
    /** Adds a symbol at a price. */
    list(symbol: string, price: bigint): void {
      const entry = { symbol, name: symbol, price: formatDecimal(price, PRICE_DECIMALS) }
      listings.set(symbol, newListing(entry, options.now()))
    },
    /** Sets the last price, and the quote; by default one cent either side of it. */
    setPrice(
      symbol: string,
      last: bigint,
      quote?: { bid?: bigint | undefined; ask?: bigint | undefined },
    ): void {
      const listing = market.listing(symbol)
      listing.last = last
      listing.bid = quote?.bid ?? (last > ONE_CENT ? last - ONE_CENT : last)
      listing.ask = quote?.ask ?? last + ONE_CENT
      if (last > listing.high) listing.high = last
      if (last < listing.low) listing.low = last
      listing.tradedAt = options.now()
      trade(listing, last)
      options.onPrice(symbol)
    },
    /** So many shares are there now for so many: the price changes the other way. */
    split(symbol: string, numerator: bigint, denominator: bigint): void {
      const listing = market.listing(symbol)
      const at = barAt(options.now())
      listing.splits.push({ at, numerator, denominator })
      // A split comes while nothing trades: no bar has prices of before and after it.
      listing.traded.delete(at)
      market.setPrice(symbol, (listing.last * denominator) / numerator)
    },
    /** Moves every price by one step of the seeded walk, in the order of the listings. */
    walk(): void {
      for (const listing of listings.values()) {
        const bps = BigInt((random() % (2 * MAX_STEP_BPS + 1)) - MAX_STEP_BPS)
        const cents = (listing.last + (listing.last * bps) / 10_000n) / ONE_CENT
        market.setPrice(listing.symbol, (cents > 1n ? cents : 1n) * ONE_CENT)
      }
    },
  }
  return market
}

export type Market = ReturnType<typeof createMarket>

function newListing(entry: StandInSymbol, now: Date): Listing {
  const price = parseDecimal(entry.price, PRICE_DECIMALS)
  if (price <= ONE_CENT) throw new RangeError(`price of ${entry.symbol} expected more than a cent`)
  return {
    id: uuidOf(`asset:${entry.symbol}`),
    symbol: entry.symbol,
    name: entry.name,
    status: 'active',
    tradable: true,
    fractionable: true,
    last: price,
    bid: price - ONE_CENT,
    ask: price + ONE_CENT,
    high: price,
    low: price,
    previousClose: price,
    tradedAt: now,
    traded: new Map(),
    splits: [],
    omit: new Set(),
  }
}

function barAt(time: Date): number {
  return Math.floor(time.getTime() / BAR_MS) * BAR_MS
}

function trade({ traded, tradedAt }: Listing, price: bigint): void {
  const at = barAt(tradedAt)
  const bar = traded.get(at) ?? { open: price, high: price, low: price, close: price }
  const high = price > bar.high ? price : bar.high
  const low = price < bar.low ? price : bar.low
  traded.set(at, { ...bar, high, low, close: price })
}

/** A UUID (version 4 in form) that depends only on `name`. */
export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** A deterministic stream of 32-bit integers (mulberry32): the same seed moves the same prices. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
}
