// Entries of the books, put together by the corporate action that left them.
import type { Booking } from '../protocol/actionReport.js'
import { parseDecimal, SHARE_DECIMALS } from '../protocol/units.js'
import type { BookedEntry } from './activities.js'
import type { ActionKind } from './announcements.js'

/** By type, of the entries that it puts together. Withheld taxes stand beside their dividend. */
const FAMILIES: Readonly<Record<string, ActionKind>> = {
  ...{ SPLIT: 'split', SSP: 'split', SPIN: 'spin-off', SSO: 'spin-off', MA: 'merger' },
  ...{ NC: 'symbol-change', SC: 'symbol-change', REORG: 'removal', PTC: 'other', VOF: 'other' },
}
/** A part of the capital that comes back, and gains that a fund hands on. */
const NO_INCOME: ReadonlySet<string> = new Set(['DIVROC', 'DIVCGL', 'DIVCGS'])
const WITHHELD: ReadonlySet<string> = new Set(['DIVNRA', 'DIVFT', 'DIVTW', 'DIVWH', 'DIVFEE'])

function familyOf({ type, subType, qty, cash, isUnreadable }: BookedEntry): ActionKind {
  if (isUnreadable) return 'other'
  if (type === 'DIV' && (subType === 'SDIV' || (cash === 0n && qty > 0n))) return 'stock-dividend'
  if (type === 'SPLIT' && subType === 'USPLIT') return 'other'
  return FAMILIES[type] ?? 'cash-dividend'
}

/** @returns the oldest day first, without what was taken back */
export function bookingsOf(entries: readonly BookedEntry[]): Booking[] {
  return put(entries.filter(({ isCanceled }) => !isCanceled))
}

/**
 * What was ever booked: also what was taken back, by cancelling the entry or by an opposite one. An entry that cannot be read bears
 * nothing.
 */
export function everBookedOf(entries: readonly BookedEntry[]): Booking[] {
  const readable = entries.filter(({ isUnreadable }) => !isUnreadable)
  const came = readable.filter(({ type, cash }) => cash >= 0n || WITHHELD.has(type))
  return [...bookingsOf(came), ...put(came.filter(({ isCanceled }) => isCanceled))]
}

function put(entries: readonly BookedEntry[]): Booking[] {
  const groups = Map.groupBy(entries, (entry) => `${entry.day} ${familyOf(entry)}`)
  const found = [...groups.values()].flatMap((group) => {
    const [first] = group
    return first ? READERS[familyOf(first)](group) : []
  })
  return togetherByDay(found).sort((a, b) => (a.day < b.day ? -1 : 1))
}

/** A person decides about a symbol's day at once: the list has one claim for what is not carried out. */
function togetherByDay(found: readonly Booking[]): Booking[] {
  const keyOf = ({ kind, symbol, day }: Booking) => (kind === 'other' ? `${symbol} ${day}` : null)
  const others = Map.groupBy(
    found.filter((each) => keyOf(each) !== null),
    keyOf,
  )
  const merged = [...others.values()].flatMap(([first, ...more]) =>
    first
      ? {
          ...first,
          before: first.before ?? more.find(({ before }) => before !== null)?.before ?? null,
          made: sum([first, ...more].map(({ made }) => made)),
          cash: sum([first, ...more].map(({ cash }) => cash)),
          gross: sum([first, ...more].map(({ gross }) => gross)),
          ...([first, ...more].some(({ isUnreadable }) => isUnreadable) && { isUnreadable: true as const }),
        }
      : [],
  )
  return [...found.filter((each) => keyOf(each) === null), ...merged]
}

type Reader = (entries: readonly BookedEntry[]) => Booking[]

/** Each reads the entries of one family and day. */
const READERS: Readonly<Record<ActionKind, Reader>> = {
  'cash-dividend': (entries) => bySymbol(entries).map(cashDividend),
  'stock-dividend': (entries) => bySymbol(entries).map(stockDividend),
  split: splits,
  'symbol-change': (entries) =>
    [...Map.groupBy(entries, ({ description }) => description).values()].flatMap(symbolChange),
  removal: (entries) => bySymbol(entries).flatMap(removal),
  merger: mergers,
  'spin-off': spinOff,
  other: (entries) => entries.map((entry) => plain('other', entry)),
}

function plain(
  kind: ActionKind,
  { symbol, day, qty, cash, description, isUnreadable }: BookedEntry,
): Booking {
  return {
    ...(isUnreadable && { isUnreadable }),
    ...{ kind, symbol, day, successor: '', before: statedShares(description), made: qty },
    ...{
      cash,
      gross: cash,
      isIncome: true,
      recordedOn: /Rec Date: (\d{4}-\d\d-\d\d)/.exec(description)?.[1] ?? null,
    },
  }
}

/** No member states the shares that a dividend is for, other than in old entries. */
function statedShares(description: string): bigint | null {
  const [, text] = /Pos QTY: (\d{1,20}(?:\.\d{1,9})?)\b/.exec(description) ?? []
  return text === undefined ? null : parseDecimal(text, SHARE_DECIMALS)
}

/** Several dividends of one day are one booking: no entry says which of them a tax was withheld from. */
function cashDividend(entries: readonly [BookedEntry, ...BookedEntry[]]): Booking {
  const paid = entries.filter(({ type }) => !WITHHELD.has(type))
  const [named = entries[0]] = paid
  const first = plain('cash-dividend', named)
  return {
    ...first,
    before: named.qty > 0n ? named.qty : first.before,
    made: 0n,
    cash: sum(entries.map(({ cash }) => cash)),
    gross: sum(paid.map(({ cash }) => cash)),
    isIncome: !entries.some(({ type }) => NO_INCOME.has(type)),
  }
}

function stockDividend(entries: readonly [BookedEntry, ...BookedEntry[]]): Booking {
  const first = plain('stock-dividend', entries[0])
  return { ...first, made: (first.before ?? 0n) + sum(entries.map(({ qty }) => qty)) }
}

function splits(entries: readonly BookedEntry[]): Booking[] {
  const found = bySymbol(entries).map((own) => exchange('split', own))
  const [gone, come] = [found.filter(({ made }) => made === 0n), found.filter(({ before }) => before === 0n)]
  const [old, successor] = [gone[0], come[0]]
  // A split that changes the name as well.
  if (found.length === 2 && old && successor && gone.length === 1 && come.length === 1)
    return [{ ...old, successor: successor.symbol, made: successor.made, cash: old.cash + successor.cash }]
  return found.map((each) =>
    each.before === 0n || each.made === 0n ? { ...each, kind: 'other', before: null } : each,
  )
}

function symbolChange(entries: readonly BookedEntry[]): Booking[] {
  const [old, successor, more] = bySymbol(entries).sort(([a], [b]) => (a.qty < b.qty ? -1 : 1))
  // The CUSIP alone has changed.
  if (old && !successor) return []
  if (!old || !successor || more) return entries.map((entry) => plain('other', entry))
  const [from, to] = [exchange('symbol-change', old), exchange('symbol-change', successor)]
  return [{ ...from, successor: to.symbol, made: to.made }]
}

/** Shares that go for cash are ended as by a merger, whatever the entry is called. */
function removal(entries: readonly [BookedEntry, ...BookedEntry[]]): Booking[] {
  const { before, made, ...gone } = exchange('removal', entries)
  if (before === null || before <= 0n || made > 0n) return entries.map((entry) => plain('other', entry))
  return [{ ...gone, before, made, kind: gone.cash === 0n ? 'removal' : 'merger' }]
}

function mergers(entries: readonly BookedEntry[]): Booking[] {
  const removed = entries.filter(({ qty }) => qty < 0n)
  const claimed = new Set<BookedEntry>(removed)
  const found = removed.map((entry): Booking => {
    const come = entries.filter(({ qty, description }) => qty > 0n && description === entry.description)
    const cash = entries.filter(({ symbol, qty }) => symbol === entry.symbol && qty === 0n)
    for (const each of [...come, ...cash]) claimed.add(each)
    const paid = sum([entry, ...come, ...cash].map((each) => each.cash))
    const [successor] = come
    const kind = come.length > 1 ? 'other' : 'merger'
    const made = { successor: successor?.symbol ?? '', made: successor?.qty ?? 0n }
    return { ...plain(kind, entry), before: -entry.qty, ...made, cash: paid, gross: paid }
  })
  return [...found, ...entries.filter((entry) => !claimed.has(entry)).map((entry) => plain('other', entry))]
}

/** The source's own entries take its shares and give them back, at another cost. */
function spinOff(entries: readonly BookedEntry[]): Booking[] {
  const own = bySymbol(entries)
  const [made, ...more] = own.filter((each) => sum(each.map(({ qty }) => qty)) > 0n)
  const [source, ...others] = own.filter((each) => sum(each.map(({ qty }) => qty)) === 0n)
  if (!made || more.length > 0 || others.length > 0 || own.length > 2)
    return entries.map((entry) => plain('other', entry))
  const shares = sum((source ?? []).map(({ qty }) => (qty > 0n ? qty : 0n)))
  return [
    {
      ...plain('spin-off', made[0]),
      ...{ symbol: source?.[0].symbol ?? '', successor: made[0].symbol },
      ...{ before: source ? shares : null, made: sum(made.map(({ qty }) => qty)) },
    },
  ]
}

/** The shares that went, and those that came for them. */
function exchange(kind: ActionKind, entries: readonly [BookedEntry, ...BookedEntry[]]): Booking {
  const cash = sum(entries.map((entry) => entry.cash))
  return {
    ...plain(kind, entries[0]),
    before: -sum(entries.map(({ qty }) => (qty < 0n ? qty : 0n))),
    made: sum(entries.map(({ qty }) => (qty > 0n ? qty : 0n))),
    ...{ cash, gross: cash },
  }
}

function bySymbol(entries: readonly BookedEntry[]): [BookedEntry, ...BookedEntry[]][] {
  return [...Map.groupBy(entries, ({ symbol }) => symbol).values()].flatMap(([first, ...rest]) =>
    first ? [[first, ...rest]] : [],
  )
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}
