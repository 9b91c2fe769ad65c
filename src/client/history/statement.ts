// An account's statement of a month or a year, from its history. Pure.
import { actionWords, effectOf, type HistoryEntry } from './entries.js'
import { type Disposal, lotsOf } from './lots.js'

/** A month or a year, in UTC. */
export interface Period {
  /** `2026-11`, or `2026`. */
  readonly name: string
  /** Unix seconds of its first second, and of the first one after it. */
  readonly from: number
  readonly to: number
}

/** One change of the portfolio. USDC amounts have 6 decimals, shares 9. */
export interface StatementLine {
  /** Unix seconds. */
  readonly timestamp: number
  /** `bought`, `sold`, `dividend`, `merger cash`, `split 4:1`, … */
  readonly event: string
  readonly symbol: string | null
  /** The change of the shares, or the shares that cash was paid on; null without any. */
  readonly shares: bigint | null
  /** Of one share; null without a trade. */
  readonly price: bigint | null
  /** The cost of a purchase, the net proceeds of a sale, the cash of an action, or what was paid in or out; null for shares alone. */
  readonly amount: bigint | null
  /** The change of the cash. */
  readonly cash: bigint
}

/** Cash and shares at one moment. */
export interface StatementBalance {
  readonly cash: bigint
  readonly positions: Readonly<Record<string, bigint>>
}

export interface Statement {
  readonly period: Period
  readonly opening: StatementBalance
  readonly closing: StatementBalance
  readonly lines: readonly StatementLine[]
  /** What was sold, or paid for, in the period, by the lots that it came from: first in, first out. */
  readonly disposals: readonly Disposal[]
  /** The gain of the disposals; null where a cost is unknown. */
  readonly gain: bigint | null
  /** Cash dividends, net of withholding. */
  readonly dividends: bigint
  /** Unix seconds up to which it is final. */
  readonly until: number
  /** Whether nothing can change it any more: the period is over, and no reorganization of the chain reaches it. */
  readonly isFinal: boolean
  /** False if a version of the portfolio, or a claim to cash, could not be read: a line may be missing, or lack its reason. */
  readonly isComplete: boolean
}

const PERIOD = /^(\d{4})(?:-(0[1-9]|1[0-2]))?$/

/**
 * The month or the year that a text names; null for any other text.
 * @example const period = periodOf('2026-11')
 */
export function periodOf(name: string): Period | null {
  const [, year, month] = PERIOD.exec(name) ?? []
  if (year === undefined) return null
  const first = Number(year) * 12 + (month === undefined ? 0 : Number(month) - 1)
  const secondsOf = (months: number) => Date.UTC(Math.floor(months / 12), months % 12) / 1_000
  return { name, from: secondsOf(first), to: secondsOf(first + (month === undefined ? 12 : 1)) }
}

/**
 * The statement of a period.
 * @param entries oldest first, from the account's first event on: what was sold has its cost from them
 * @param until Unix seconds up to which they are final, `finalUntil` of the history
 * @example const { lines, gain } = statementOf(entries, { name: '2026-11', from: 1_793_491_200, to: 1_796_083_200 }, 1_796_090_000)
 */
export function statementOf(entries: readonly HistoryEntry[], period: Period, until: number): Statement {
  const { from, to } = period
  const known = entries.filter(({ timestamp }) => timestamp < to)
  const own = known.filter(({ timestamp }) => timestamp >= from)
  const disposals = lotsOf(known).disposals.filter(({ disposedAt }) => disposedAt >= from)
  const gains = disposals.map(({ proceeds, cost }) => (cost === null ? null : proceeds - cost))
  return {
    ...{ period, disposals, until },
    opening: balanceAfter(known.filter(({ timestamp }) => timestamp < from)),
    closing: balanceAfter(known),
    lines: own.flatMap(linesOf),
    gain: gains.reduce<bigint | null>((sum, gain) => (sum === null || gain === null ? null : sum + gain), 0n),
    dividends: own.reduce((sum, entry) => sum + dividendOf(entry), 0n),
    isFinal: until >= to,
    isComplete: known.every(isKnown),
  }
}

function dividendOf(entry: HistoryEntry): bigint {
  return entry.kind === 'carried' && entry.paidFor === null ? entry.cash : 0n
}

function isKnown(entry: HistoryEntry): boolean {
  if (entry.kind === 'carried') return entry.entitled !== null
  return entry.kind !== 'unreadable' && entry.kind !== 'adjusted'
}

function balanceAfter(entries: readonly HistoryEntry[]): StatementBalance {
  let cash = 0n
  const positions: Record<string, bigint> = {}
  for (const entry of entries) {
    const effect = effectOf(entry)
    cash += effect.cash
    for (const [symbol, change] of Object.entries(effect.shares)) {
      positions[symbol] = (positions[symbol] ?? 0n) + change
    }
  }
  return {
    cash,
    positions: Object.fromEntries(Object.entries(positions).filter(([, shares]) => shares !== 0n)),
  }
}

/** The changes that an entry makes: one for each symbol, the first with that of the cash. */
function linesOf(entry: HistoryEntry): StatementLine[] {
  const { timestamp } = entry
  const { cash, shares } = effectOf(entry)
  const changes = Object.entries(shares)
  if (cash === 0n && changes.length === 0) return []
  const line = { timestamp, event: eventOf(entry), ...termsOf(entry) }
  if (changes.length === 0) {
    const paidOn = entry.kind === 'carried' ? entry.action.symbol : null
    const entitled = entry.kind === 'carried' ? (entry.entitled ?? null) : null
    return [{ ...line, symbol: paidOn, shares: entitled, cash }]
  }
  return changes.map(([symbol, change], at) => ({
    ...line,
    symbol,
    shares: change,
    cash: at === 0 ? cash : 0n,
  }))
}

const EVENTS: Partial<Record<HistoryEntry['kind'], string>> = {
  'cash-withdrawn': 'withdrawal',
  'shares-withdrawn': 'withdrawal',
  'cash-deposited': 'deposit',
  'shares-deposited': 'deposit',
}

function eventOf(entry: HistoryEntry): string {
  return entry.kind === 'carried' ? actionWords(entry) : (EVENTS[entry.kind] ?? entry.kind)
}

function termsOf(entry: HistoryEntry): Pick<StatementLine, 'price' | 'amount'> {
  switch (entry.kind) {
    case 'bought':
      return { price: entry.price, amount: entry.cost }
    case 'sold':
      return { price: entry.price, amount: entry.proceeds }
    case 'cash-withdrawn':
    case 'cash-deposited':
      return { price: null, amount: entry.usdc }
    case 'carried':
      return { price: null, amount: entry.action.kind === 'PAYMENT' ? entry.cash : null }
    default:
      return { price: null, amount: null }
  }
}
