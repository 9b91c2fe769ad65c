// Tax lots: shares are sold in the order in which they were bought (first in, first out). Pure, in exact rationals.
import type { PaidFor } from '../../protocol/corporateActions.js'
import type { Hex } from '../../protocol/hex.js'
import {
  add,
  dividedBy,
  floor,
  isLess,
  ONE,
  type Ratio,
  ratio,
  subtract,
  times,
  ZERO,
} from '../../protocol/ratio.js'
import { ONE_CENT } from '../../protocol/units.js'
import { effectOf, type HistoryEntry } from './entries.js'

/** The shares of one purchase that are left. */
export interface Lot {
  readonly symbol: string
  /** Unix seconds at which the shares came in: of the purchase, or of the deposit of shares whose purchase is unknown. */
  readonly since: number
  /** Share base units, in the shares of today. */
  readonly shares: Ratio
  /** USDC base units that the whole purchase cost; null if it is unknown. */
  readonly cost: bigint | null
  /** The part of the purchase that is left, above zero. */
  readonly left: Ratio
}

/** The shares of one lot that were sold, ended by a merger or became worthless; or cash for an unknown part of the shares. */
export interface Disposal {
  readonly symbol: string
  /** Unix seconds of the purchase; null if it is unknown. */
  readonly acquiredAt: number | null
  /** Unix seconds. */
  readonly disposedAt: number
  /** Share base units; null for cash that leaves its holder with all shares. */
  readonly shares: bigint | null
  /** The corporate action that ended the shares, or paid the cash; null for a sale, and for worthless shares. */
  readonly paidFor: PaidFor | null
  /** USDC base units, net of the broker's fees. */
  readonly proceeds: bigint
  /** USDC base units; null if it is unknown. */
  readonly cost: bigint | null
  readonly txHash: Hex
}

export interface Lots {
  /** By symbol, in the order in which they will be sold. */
  readonly lots: readonly Lot[]
  /** Oldest first. */
  readonly disposals: readonly Disposal[]
}

/**
 * The lots of a history and what was sold of them. A part of a purchase takes the same part of its cost, to the nearest cent: those of
 * one purchase add up to its cost. So do the proceeds and the shares of one sale, each to the nearest unit.
 * @param entries oldest first, from the account's first event on
 * @example const { lots, disposals } = lotsOf(entries)
 */
export function lotsOf(entries: Iterable<HistoryEntry>): Lots {
  const books = createBooks()
  for (const entry of entries) books.enter(entry)
  return { lots: books.lots(), disposals: books.disposals }
}

type Carried = Extract<HistoryEntry, { kind: 'carried' }>
/** A part of a lot, as whole base units of its cost. */
type Part = Pick<Lot, 'since' | 'cost'> & { readonly shares: Ratio }

/** The cash of a merger, and the shares that it is for: either may come first. */
interface Merger {
  /** USDC base units; null until they are paid. */
  readonly cash: bigint | null
  /** The lots that have been removed; null until then. */
  readonly gone: readonly Lot[] | null
}

/** The lots and disposals of a history, entry by entry. */
export function createBooks() {
  /** By symbol, the oldest first. */
  const held = new Map<string, Lot[]>()
  const disposals: Disposal[] = []
  /** By symbol: those with a claim, until cash and shares have met. */
  const mergers = new Map<string, Merger>()
  const lotsIn = (symbol: string): Lot[] => held.get(symbol) ?? []

  function receive(symbol: string, shares: bigint, since: number, cost: bigint | null): void {
    if (shares === 0n) return
    const lot: Lot = { symbol, shares: ratio(shares), since, cost, left: ONE }
    const lots = held.get(symbol)
    if (lots) lots.push(lot)
    else held.set(symbol, [lot])
  }

  /** Takes shares from the oldest lots of a symbol. Shares that no lot has come from nowhere known. */
  function take(symbol: string, wanted: Ratio): Part[] {
    const lots = lotsIn(symbol)
    const parts: Part[] = []
    let [missing, used] = [wanted, 0]
    for (const lot of lots) {
      if (missing.numerator === 0n) break
      const shares = isLess(missing, lot.shares) ? missing : lot.shares
      missing = subtract(missing, shares)
      const left = subtract(lot.left, dividedBy(times(lot.left, shares), lot.shares))
      const cost = lot.cost === null ? null : between(lot.cost, left, lot.left)
      parts.push({ since: lot.since, shares, cost })
      if (left.numerator > 0n) lots[used] = { ...lot, shares: subtract(lot.shares, shares), left }
      else used += 1
    }
    lots.splice(0, used)
    if (missing.numerator > 0n) parts.push({ since: 0, shares: missing, cost: null })
    return parts
  }

  /** @param paidFor the corporate action whose cash the proceeds are */
  function dispose(
    { timestamp: disposedAt, txHash }: HistoryEntry,
    { symbol, shares: wanted }: { readonly symbol: string; readonly shares: Ratio },
    whole: bigint,
    paidFor: PaidFor | null = null,
  ): void {
    let [before, sold] = [ONE, ZERO]
    for (const { since, shares: exact, cost } of take(symbol, wanted)) {
      const acquiredAt = cost === null ? null : since
      const left = subtract(before, dividedBy(exact, wanted))
      const proceeds = between(whole, left, before)
      const shares = nearest(add(sold, exact)) - nearest(sold)
      before = left
      sold = add(sold, exact)
      // What a split has left of a lot may be less than any unit.
      if (shares === 0n && proceeds === 0n && (cost ?? 0n) === 0n) continue
      disposals.push({ symbol, acquiredAt, disposedAt, shares, paidFor, proceeds, cost, txHash })
    }
  }

  /** A claim of a merger waits for cash and removal. Dividends are no disposals, and other cash is one by itself. */
  function claim(entry: Carried): void {
    const { action, cash, paidFor } = entry
    const { symbol } = action
    const merger = mergers.get(symbol)
    if (action.kind === 'ENTITLEMENT') {
      if (paidFor === 'merger') mergers.set(symbol, merger ?? { cash: null, gone: null })
    } else if (paidFor === 'merger') {
      if (merger?.gone) exchange(entry, cash, merger.gone)
      else mergers.set(symbol, { cash, gone: null })
    } else if (paidFor !== null) {
      payApart(entry, { symbol, cash, paidFor })
    }
  }

  /** The cash of a merger for all shares. */
  function exchange(entry: Carried, cash: bigint, gone: readonly Lot[]): void {
    const { symbol } = entry.action
    mergers.delete(symbol)
    held.set(symbol, [...gone])
    dispose(entry, { symbol, shares: sumOf(gone) }, cash, 'merger')
  }

  /** Cash for a part of the shares that nothing on chain names: the holder says what of their cost belongs to it. */
  function payApart(
    { timestamp: disposedAt, txHash }: HistoryEntry,
    { symbol, cash, paidFor }: { readonly symbol: string; readonly cash: bigint; readonly paidFor: PaidFor },
  ): void {
    if (cash === 0n) return
    const unknown = { acquiredAt: null, shares: null, cost: null }
    disposals.push({ symbol, ...unknown, disposedAt, paidFor, proceeds: cash, txHash })
  }

  /** A split multiplies each lot, a new symbol takes the lots over, and a removal disposes of them. */
  function act(entry: Carried): void {
    const { action, shares: changes } = entry
    const { symbol } = action
    const lots = lotsIn(symbol)
    if (action.kind === 'ENTITLEMENT' || action.kind === 'PAYMENT') claim(entry)
    else if (lots.length === 0 || Object.keys(changes).length === 0) return
    else if (action.kind === 'REMOVAL') remove(entry, lots)
    else if (action.kind === 'SYMBOL_CHANGE') rename(lots, action)
    else multiply(entry, lots, ratio(action.numerator, action.denominator))
  }

  /** For the cash of a merger, which may come later, or for nothing. */
  function remove(entry: Carried, lots: readonly Lot[]): void {
    const { symbol } = entry.action
    const merger = mergers.get(symbol)
    if (merger === undefined) dispose(entry, { symbol, shares: sumOf(lots) }, 0n)
    else if (merger.cash !== null) exchange(entry, merger.cash, lots)
    else {
      mergers.set(symbol, { cash: null, gone: lots })
      held.delete(symbol)
    }
  }

  function rename(
    lots: readonly Lot[],
    { symbol, successor }: { readonly symbol: string; readonly successor: string },
  ): void {
    const renamed = [...lotsIn(successor), ...lots.map((lot) => ({ ...lot, symbol: successor }))]
    held.set(
      successor,
      renamed.sort((one, other) => one.since - other.since),
    )
    held.delete(symbol)
  }

  /** The whole position is rounded down: what no share is left of is given up, and its lots lose it last in, first out. */
  function multiply(entry: Carried, lots: readonly Lot[], factor: Ratio): void {
    const { symbol } = entry.action
    const all = sumOf(lots)
    const now = add(all, ratio(entry.shares[symbol] ?? 0n))
    if (now.numerator <= 0n) {
      dispose(entry, { symbol, shares: all }, 0n)
    } else {
      const multiplied = lots.map((lot) => ({ ...lot, shares: times(lot.shares, factor) }))
      held.set(symbol, trimmed(multiplied, subtract(times(all, factor), now)))
    }
  }

  /** Shares that left for a wallet are not sold, and those that came from one have an unknown cost. @returns the cost of those that left */
  function move(entry: HistoryEntry): bigint | null {
    const costs = Object.entries(effectOf(entry).shares).flatMap(([symbol, moved]) => {
      if (moved < 0n) return take(symbol, ratio(-moved)).map(({ cost }) => cost)
      receive(symbol, moved, entry.timestamp, null)
      return []
    })
    return sumOfCosts(costs)
  }

  return {
    disposals,
    lots: () => [...held.values()].flat(),
    /** What the shares of a symbol have cost; null if it is unknown. */
    costOf(symbol: string): bigint | null {
      const lots = lotsIn(symbol)
      return lots.length === 0 ? null : sumOfCosts(lots.map(costLeft))
    },
    /** @returns the cost of the shares that left for a wallet; null if it is unknown */
    enter(entry: HistoryEntry): bigint | null {
      let left: bigint | null = 0n
      if (entry.kind === 'bought') receive(entry.symbol, entry.shares, entry.timestamp, entry.cost)
      else if (entry.kind === 'sold')
        dispose(entry, { symbol: entry.symbol, shares: ratio(entry.shares) }, entry.proceeds)
      else if (entry.kind === 'carried') act(entry)
      else left = move(entry)
      // The cash of a merger that has left nothing under its symbol: the shares have another one now, or are another holder's.
      for (const [symbol, { cash }] of mergers) {
        if (cash === null || lotsIn(symbol).length > 0) continue
        mergers.delete(symbol)
        payApart(entry, { symbol, cash, paidFor: 'merger' })
      }
      return left
    },
  }
}

function sumOfCosts(costs: readonly (bigint | null)[]): bigint | null {
  return costs.reduce<bigint | null>((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0n)
}

/** The nearest whole number to a ratio that is not negative. */
function nearest(exact: Ratio): bigint {
  return floor(add(exact, ratio(1n, 2n)))
}

/** What an amount loses when less of it is left, to the nearest cent: parts that follow one another add up to it. */
function between(amount: bigint, left: Ratio, before: Ratio): bigint {
  return gone(left) - gone(before)

  function gone(part: Ratio): bigint {
    if (part.numerator === 0n) return amount
    const cents = ONE_CENT * nearest(times(ratio(amount, ONE_CENT), subtract(ONE, part)))
    return cents < amount ? cents : amount
  }
}

/** The lots without a part of the newest one, which keeps its cost. */
function trimmed(lots: readonly Lot[], excess: Ratio): Lot[] {
  const last = lots.findLastIndex((lot) => isLess(excess, lot.shares))
  return lots.map((lot, at) => (at === last ? { ...lot, shares: subtract(lot.shares, excess) } : lot))
}

function sumOf(lots: readonly Lot[]): Ratio {
  return lots.reduce((sum, { shares }) => add(sum, shares), ZERO)
}

/**
 * USDC base units that what is left of a lot has cost, so that with what was sold it is the cost of the purchase; null if unknown.
 * @example const costs = lotsOf(entries).lots.map((lot) => costLeft(lot))
 */
export function costLeft({ cost, left }: Lot): bigint | null {
  if (cost === null || left.numerator === left.denominator) return cost
  return cost - between(cost, left, ONE)
}
