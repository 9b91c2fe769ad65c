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
  /** Share base units, exact: a lot after a split may end in a part of one. Null for cash that leaves its holder with all shares. */
  readonly shares: Ratio | null
  /** The corporate action that ended the shares, or paid the cash; null for a sale, and for worthless shares. */
  readonly paidFor: PaidFor | null
  /** USDC base units, net of the broker's fees. */
  readonly proceeds: bigint
  /** USDC base units; null if it is unknown. */
  readonly cost: bigint | null
  readonly txHash: Hex
}

export interface Lots {
  /** In the order in which they will be sold. */
  readonly lots: readonly Lot[]
  /** Oldest first. */
  readonly disposals: readonly Disposal[]
}

/** The cash of a merger, and the shares that it is for: either may come first. */
interface Merger {
  /** USDC base units; null until they are paid. */
  readonly cash: bigint | null
  /** The lots that have been removed; null until then. */
  readonly gone: readonly Lot[] | null
}

interface State extends Lots {
  /** By symbol: those with a claim, until cash and shares have met. */
  readonly mergers: ReadonlyMap<string, Merger>
}

/**
 * The lots of a history and what was sold of them. A part of a purchase takes the same part of its cost: parts are whole base units
 * of USDC, and those of one purchase add up to its cost. So do the proceeds of one sale.
 * @param entries oldest first, from the account's first event on
 * @example const { lots, disposals } = lotsOf(entries)
 */
export function lotsOf(entries: Iterable<HistoryEntry>): Lots {
  let state: State = { lots: [], disposals: [], mergers: new Map() }
  for (const entry of entries) state = withoutShares(afterEntry(state, entry), entry)
  const { lots, disposals } = state
  return { lots, disposals }
}

function afterEntry(before: State, entry: HistoryEntry): State {
  const { timestamp } = entry
  switch (entry.kind) {
    case 'bought':
      return added(before, { symbol: entry.symbol, shares: entry.shares, since: timestamp, cost: entry.cost })
    case 'sold':
      return disposed(before, entry, { symbol: entry.symbol, shares: ratio(entry.shares) }, entry.proceeds)
    case 'carried':
      return afterAction(before, entry)
    default: {
      // Shares that left for a wallet are not sold, and those that came from one have an unknown cost.
      let now = before
      for (const [symbol, change] of Object.entries(effectOf(entry).shares)) {
        if (change > 0n) now = added(now, { symbol, shares: change, since: timestamp, cost: null })
        else now = { ...now, lots: taken(now.lots, symbol, ratio(-change)).rest }
      }
      return now
    }
  }
}

function added(
  state: State,
  { shares, ...purchase }: { symbol: string; shares: bigint; since: number; cost: bigint | null },
): State {
  if (shares === 0n) return state
  const lot: Lot = { ...purchase, shares: ratio(shares), left: ONE }
  return { ...state, lots: [...state.lots, lot] }
}

/** A part of a lot, as whole base units of its cost. */
interface Part {
  readonly lot: Lot
  readonly shares: Ratio
  readonly cost: bigint | null
}

/** Takes shares from the oldest lots of a symbol. Shares that no lot has come from nowhere known. */
function taken(lots: readonly Lot[], symbol: string, wanted: Ratio) {
  const parts: Part[] = []
  const rest: Lot[] = []
  let missing = wanted
  for (const lot of lots) {
    if (lot.symbol !== symbol || missing.numerator === 0n) {
      rest.push(lot)
      continue
    }
    const shares = isLess(missing, lot.shares) ? missing : lot.shares
    missing = subtract(missing, shares)
    const left = subtract(lot.left, dividedBy(times(lot.left, shares), lot.shares))
    parts.push({ lot, shares, cost: lot.cost === null ? null : between(lot.cost, left, lot.left) })
    if (left.numerator > 0n) rest.push({ ...lot, shares: subtract(lot.shares, shares), left })
  }
  if (missing.numerator > 0n) {
    const unknown: Lot = { symbol, since: 0, shares: missing, cost: null, left: ONE }
    parts.push({ lot: unknown, shares: missing, cost: null })
  }
  return { parts, rest }
}

/** What an amount loses when less of it is left: parts that follow one another add up to it. */
function between(amount: bigint, left: Ratio, before: Ratio): bigint {
  const gone = (part: Ratio) => floor(times(ratio(amount), subtract(ONE, part)))
  return gone(left) - gone(before)
}

/** @param paidFor the corporate action whose cash the proceeds are */
function disposed(
  state: State,
  { timestamp: disposedAt, txHash }: HistoryEntry,
  { symbol, shares: wanted }: { symbol: string; shares: Ratio },
  whole: bigint,
  paidFor: PaidFor | null = null,
): State {
  const { parts, rest } = taken(state.lots, symbol, wanted)
  let before = ONE
  const found = parts.map(({ lot: { since }, shares, cost }): Disposal => {
    const acquiredAt = cost === null ? null : since
    const left = subtract(before, dividedBy(shares, wanted))
    const proceeds = between(whole, left, before)
    before = left
    return { symbol, acquiredAt, disposedAt, shares, paidFor, proceeds, cost, txHash }
  })
  return { ...state, lots: rest, disposals: [...state.disposals, ...found] }
}

type Carried = Extract<HistoryEntry, { kind: 'carried' }>

/** A split multiplies each lot, a new symbol takes the lots over, and a removal disposes of them for the cash of a merger, or nothing. */
function afterAction(before: State, entry: Carried): State {
  const { action, shares: changes } = entry
  const { symbol } = action
  if (action.kind === 'ENTITLEMENT' || action.kind === 'PAYMENT') return afterClaim(before, entry)
  const held = before.lots.filter((lot) => lot.symbol === symbol)
  if (held.length === 0 || Object.keys(changes).length === 0) return before
  const all = sumOf(held)
  if (action.kind === 'SYMBOL_CHANGE') {
    const { successor } = action
    const renamed = before.lots.map((lot) => (lot.symbol === symbol ? { ...lot, symbol: successor } : lot))
    return { ...before, lots: renamed.toSorted((one, other) => one.since - other.since) }
  }
  if (action.kind === 'REMOVAL') {
    const merger = before.mergers.get(symbol)
    if (merger === undefined) return disposed(before, entry, { symbol, shares: all }, 0n)
    if (merger.cash !== null) return exchanged(before, entry, { cash: merger.cash, gone: held })
    const others = before.lots.filter((lot) => lot.symbol !== symbol)
    return withMerger({ ...before, lots: others }, symbol, { cash: null, gone: held })
  }
  const factor = ratio(action.numerator, action.denominator)
  const lots = before.lots.map((lot) =>
    lot.symbol === symbol ? { ...lot, shares: times(lot.shares, factor) } : lot,
  )
  // The whole position is rounded down: what no share is left of is given up, and its lots lose it last in, first out.
  const now = add(all, ratio(changes[symbol] ?? 0n))
  if (now.numerator === 0n) return disposed(before, entry, { symbol, shares: all }, 0n)
  return { ...before, lots: trimmed(lots, symbol, subtract(times(all, factor), now)) }
}

/** A claim of a merger waits for cash and removal. Dividends are no disposals, and other cash is one by itself. */
function afterClaim(before: State, entry: Carried): State {
  const { action, cash, paidFor } = entry
  const { symbol } = action
  if (paidFor === null) return before
  const merger = before.mergers.get(symbol)
  if (action.kind === 'ENTITLEMENT') {
    return paidFor === 'merger' ? withMerger(before, symbol, merger ?? { cash: null, gone: null }) : before
  }
  if (paidFor !== 'merger') return paidApart(before, entry, { symbol, cash, paidFor })
  if (merger?.gone) return exchanged(before, entry, { cash, gone: merger.gone })
  return withMerger(before, symbol, { cash, gone: null })
}

/** The cash of a merger for all shares. */
function exchanged(
  state: State,
  entry: Carried,
  { cash, gone }: { readonly cash: bigint; readonly gone: readonly Lot[] },
): State {
  const { symbol } = entry.action
  const others = state.lots.filter((lot) => !gone.includes(lot))
  const back = withMerger({ ...state, lots: [...gone, ...others] }, symbol, null)
  return disposed(back, entry, { symbol, shares: sumOf(gone) }, cash, 'merger')
}

/** The cash of a merger that has left nothing under its symbol: the shares have another one now, or are another holder's. */
function withoutShares(state: State, entry: HistoryEntry): State {
  let now = state
  for (const [symbol, { cash }] of state.mergers) {
    if (cash === null || now.lots.some((lot) => lot.symbol === symbol)) continue
    now = paidApart(withMerger(now, symbol, null), entry, { symbol, cash, paidFor: 'merger' })
  }
  return now
}

/** Cash for a part of the shares that nothing on chain names: the holder says what of their cost belongs to it. */
function paidApart(
  state: State,
  { timestamp: disposedAt, txHash }: HistoryEntry,
  { symbol, cash, paidFor }: { readonly symbol: string; readonly cash: bigint; readonly paidFor: PaidFor },
): State {
  if (cash === 0n) return state
  const unknown = { acquiredAt: null, shares: null, cost: null }
  const paid: Disposal = { symbol, ...unknown, disposedAt, paidFor, proceeds: cash, txHash }
  return { ...state, disposals: [...state.disposals, paid] }
}

function withMerger(state: State, symbol: string, merger: Merger | null): State {
  const mergers = new Map(state.mergers)
  if (merger === null) mergers.delete(symbol)
  else mergers.set(symbol, merger)
  return { ...state, mergers }
}

/** Without a part of the newest lot of a symbol, which keeps its cost. */
function trimmed(lots: readonly Lot[], symbol: string, excess: Ratio): readonly Lot[] {
  const last = lots.findLastIndex((lot) => lot.symbol === symbol && isLess(excess, lot.shares))
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
  return cost === null ? null : cost - between(cost, left, ONE)
}
