import { randomUUID } from 'node:crypto'
import type * as z from 'zod'
import { formatDecimal, ONE_SHARE, parseDecimal, SHARE_DECIMALS } from '../protocol/units.js'
import type { controlSchemas } from './controlSchemas.js'
import type { Lifecycle } from './lifecycle.js'
import { type Market, uuidOf } from './market.js'
import { CASH_DECIMALS, formatCash, inCents, liveOrders } from './money.js'
import type { Activity, Reply, StandInAccount } from './types.js'

type CorporateAction = z.output<typeof controlSchemas.announce>
type Booking = z.output<typeof controlSchemas.book>
type BookingOf<T extends Booking['type']> = Extract<Booking, { type: T }>
/** An action in its API form, with the list that it is in. */
interface Announced {
  readonly list: string
  readonly processedOn: string
  readonly symbols: readonly string[]
  readonly record: Readonly<Record<string, unknown>>
}

/** Announces corporate actions, and books them as entries of live accounts look. Alpaca books none for paper accounts. */
export function createCorporateActions(deps: {
  readonly accounts: readonly StandInAccount[]
  readonly market: Market
  readonly lifecycle: Lifecycle
}) {
  const { accounts, market, lifecycle } = deps
  const announced: Announced[] = []

  /** The successor's shares are shown with positions, so it needs a price; a new one gets the old one's. */
  function trade(successor: string, symbol: string): void {
    if (!market.listings.has(successor)) market.list(successor, market.listing(symbol).last)
  }

  function bookSplit(account: StandInAccount, action: BookingOf<'forward_split' | 'reverse_split'>) {
    const [held, made] = swap(account, action.symbol, action.symbol, action)
    const quantities = `From QTY:${text(-held)}, To QTY:${text(made)}`
    const subType = action.type === 'forward_split' ? 'FSPLIT' : 'RSPLIT'
    for (const [what, qty] of [
      ['REMOVE', -held],
      ['ADD', made],
    ] as const) {
      const description = `${what}, ${quantities}`
      enter(account, action, { type: 'SPLIT', subType, symbol: action.symbol, qty, description })
    }
  }

  function bookCash(account: StandInAccount, action: BookingOf<'cash_dividend'>) {
    const { symbol, rate, withholding } = action
    const held = action.qty === undefined ? heldBy(account, symbol) : parseDecimal(action.qty, SHARE_DECIMALS)
    const gross = cashFor(held, rate)
    const recorded = `Rec Date: ${action.day}`
    const description = `Cash DIV @ ${rate}, Pos QTY: ${text(held)}, ${recorded}`
    enter(account, action, { type: 'DIV', subType: 'CDIV', symbol, cash: gross, perShare: rate, description })
    if (withholding === undefined) return
    // A part of a cent is not withheld, nor is anything entered below one.
    const tax = (gross * parseDecimal(withholding, 9)) / ONE_SHARE
    const whole = tax - (tax % CENT)
    if (whole === 0n) return
    const share = formatDecimal(parseDecimal(withholding, 9) * 100n, 9)
    const words = `DIV tax withholding on $${formatCash(gross)} at ${share}% for tax country IND; w8w9: w8`
    enter(account, action, { type: 'DIVNRA', symbol, cash: -whole, description: words })
  }

  function bookStock(account: StandInAccount, action: BookingOf<'stock_dividend'>) {
    const { symbol, rate } = action
    const held = heldBy(account, symbol)
    const added = (held * parseDecimal(rate, CASH_DECIMALS)) / 10n ** BigInt(CASH_DECIMALS)
    move(account, symbol, added)
    const factor = formatDecimal(
      10n ** BigInt(CASH_DECIMALS) + parseDecimal(rate, CASH_DECIMALS),
      CASH_DECIMALS,
    )
    const description = `Stock DIV @ ${factor}, Pos QTY: ${text(held)}, Rec Date: ${action.day}`
    enter(account, action, {
      type: 'DIV',
      subType: 'SDIV',
      symbol,
      qty: added,
      perShare: factor,
      description,
    })
  }

  function bookMerger(
    account: StandInAccount,
    action: BookingOf<'cash_merger' | 'stock_merger' | 'stock_and_cash_merger'>,
  ) {
    const { symbol, type } = action
    const held = heldBy(account, symbol)
    const cash = 'cashRate' in action ? action.cashRate : undefined
    const successor = 'successor' in action ? action.successor : undefined
    const description = mergerWords(action)
    const subType = { cash_merger: 'CMA', stock_merger: 'SMA', stock_and_cash_merger: 'SCMA' }[type]
    const common = { type: 'MA', subType, description }
    enter(account, action, { ...common, symbol, qty: -held })
    if (successor !== undefined && 'newRate' in action) {
      trade(successor, symbol)
      const [, made] = swap(account, symbol, successor, action)
      enter(account, action, { ...common, symbol: successor, qty: made })
    } else move(account, symbol, -held)
    if (cash !== undefined) enter(account, action, { ...common, symbol, cash: cashFor(held, cash) })
  }

  function bookSpinOff(account: StandInAccount, action: BookingOf<'spin_off'>) {
    const { symbol, successor } = action
    trade(successor, symbol)
    const held = heldBy(account, symbol)
    const made = (held * units(action.newRate)) / units(action.oldRate)
    move(account, successor, made)
    const words = `${action.newRate} ${successor} for each ${action.oldRate} ${symbol}`
    const description = `Target Symbol: ${successor}, Initiating Symbol: ${symbol}, ${words}`
    enter(account, action, { type: 'SPIN', symbol: successor, qty: made, description })
    for (const [what, qty] of [
      ['ADD', held],
      ['REMOVE', -held],
    ] as const) {
      const adjustment = `${what}, Cost basis adjustment for source company`
      enter(account, action, { type: 'SPIN', symbol, qty, description: adjustment })
    }
  }

  function bookFor(account: StandInAccount, action: Booking): void {
    if (action.type === 'forward_split' || action.type === 'reverse_split') bookSplit(account, action)
    else if (action.type === 'cash_dividend') bookCash(account, action)
    else if (action.type === 'stock_dividend') bookStock(account, action)
    else if (action.type === 'spin_off') bookSpinOff(account, action)
    else if (action.type === 'name_change') {
      const { symbol, successor } = action
      trade(successor, symbol)
      const [held] = swap(account, symbol, successor, { newRate: '1', oldRate: '1' })
      const common = { type: 'NC', subType: 'SNC', description: `Name Change from ${symbol} to ${successor}` }
      enter(account, action, { ...common, symbol, qty: -held })
      enter(account, action, { ...common, symbol: successor, qty: held })
    } else if (action.type === 'worthless_removal') {
      const { symbol } = action
      const held = heldBy(account, symbol)
      move(account, symbol, -held)
      enter(account, action, {
        type: 'REORG',
        symbol,
        qty: -held,
        description: `Worthless Removal - ${symbol}`,
      })
    } else bookMerger(account, action)
  }

  return {
    announce(action: CorporateAction): void {
      const { symbol, day, paidOn = day, type } = action
      const successor = 'successor' in action ? action.successor : undefined
      const record = {
        id: uuidOf(`action:${announced.length}`),
        process_date: paidOn,
        ...MEMBERS[type](day, paidOn),
        ...ratesOf(action),
        ...namesOf(type, symbol, successor),
      }
      const symbols = successor === undefined ? [symbol] : [symbol, successor]
      announced.push({ list: `${type}s`, processedOn: paidOn, symbols, record })
    },
    /** Ends the symbol's orders, moves shares and cash of each account that holds it, and its price with a split. */
    book(action: Booking): void {
      market.listing(action.symbol)
      for (const account of accounts) {
        for (const order of liveOrders(account)) {
          if (order.symbol === action.symbol) lifecycle.end(order, 'canceled')
        }
        const isNamed = 'account' in action && action.account === account.name
        if (isNamed || heldBy(account, action.symbol) > 0n) bookFor(account, action)
      }
      if (action.type === 'forward_split' || action.type === 'reverse_split') {
        market.split(action.symbol, units(action.newRate), units(action.oldRate))
      }
    },
    /** Answers `GET /v1beta1/corporate-actions`. */
    list(query: URLSearchParams): Reply {
      const symbols = query.get('symbols')?.split(',')
      const [start, end] = [query.get('start') ?? '', query.get('end') ?? '9']
      const found = announced
        .filter(({ processedOn }) => processedOn >= start && processedOn <= end)
        .filter((each) => each.symbols.some((symbol) => symbols?.includes(symbol) ?? true))
      const lists = [...new Set(found.map(({ list }) => list))]
      const recordsOf = (list: string) =>
        found.filter((each) => each.list === list).map(({ record }) => record)
      const body = Object.fromEntries(lists.map((list) => [list, recordsOf(list)]))
      return { status: 200, body: { corporate_actions: body, next_page_token: null } }
    },
  }
}

export type CorporateActions = ReturnType<typeof createCorporateActions>

const CENT = 10n ** BigInt(CASH_DECIMALS - 2)

const text = (qty: bigint) => formatDecimal(qty, SHARE_DECIMALS)
const units = (rate: string) => parseDecimal(rate, CASH_DECIMALS)

function heldBy({ positions }: StandInAccount, symbol: string): bigint {
  return positions.get(symbol)?.qty ?? 0n
}

/** Cash units, to the nearest cent. */
function cashFor(qty: bigint, rate: string): bigint {
  return inCents((qty * units(rate)) / ONE_SHARE, 'sell')
}

/** Cost goes with the shares only where all of them go. */
function move(account: StandInAccount, symbol: string, qty: bigint, cost = 0n): void {
  const before = account.positions.get(symbol) ?? { qty: 0n, cost: 0n }
  const after = { qty: before.qty + qty, cost: before.cost + cost }
  if (after.qty === 0n) account.positions.delete(symbol)
  else account.positions.set(symbol, after)
}

/** Takes every share of one symbol for shares of another, or of the same. */
function swap(
  account: StandInAccount,
  symbol: string,
  successor: string,
  { newRate, oldRate }: { newRate: string; oldRate: string },
): [held: bigint, made: bigint] {
  const { qty: held, cost } = account.positions.get(symbol) ?? { qty: 0n, cost: 0n }
  const made = (held * units(newRate)) / units(oldRate)
  account.positions.delete(symbol)
  move(account, successor, made, cost)
  return [held, made]
}

interface Entry {
  readonly type: string
  readonly subType?: string
  readonly symbol: string
  readonly qty?: bigint
  /** Cash units. */
  readonly cash?: bigint
  readonly perShare?: string
  readonly description: string
}

function enter(account: StandInAccount, action: Booking, entry: Entry): void {
  const { day, paidOn = day } = action
  const { qty = 0n, cash = 0n } = entry
  account.cash += cash
  const activity: Activity = {
    activity_type: entry.type,
    ...(entry.subType !== undefined && { activity_sub_type: entry.subType }),
    // Entries of a day have its midnight.
    id: `${paidOn.replaceAll('-', '')}000000000::${randomUUID()}`,
    date: paidOn,
    net_amount: formatCash(cash),
    description: entry.description,
    symbol: entry.symbol,
    qty: text(qty),
    ...(entry.perShare !== undefined && { per_share_amount: entry.perShare }),
    status: 'executed',
  }
  account.activities.push(activity)
}

function mergerWords(action: Booking): string {
  const cash = 'cashRate' in action ? `$${action.cashRate}` : ''
  if (!('newRate' in action && 'successor' in action)) return `Cash Merger ${cash} per share`
  const given = `${action.newRate} ${action.successor}`
  const kind = cash === '' ? 'Stock Merger' : 'Stock Cash Merger'
  return `${kind} ${given}${cash === '' ? '' : ` and ${cash}`} for ${action.oldRate} ${action.symbol}`
}

const exDate = (day: string) => ({ ex_date: day, record_date: day })
const exAndPaid = (day: string, paid: string) => ({ ...exDate(day), payable_date: paid })
const effective = (day: string, paid: string) => ({ effective_date: day, payable_date: paid })
const processed = () => ({})

/** The days that a list's records have besides those of every list. */
const MEMBERS: Readonly<Record<CorporateAction['type'], (day: string, paid: string) => object>> = {
  forward_split: exAndPaid,
  reverse_split: exDate,
  stock_dividend: exAndPaid,
  cash_dividend: (day, paid) => ({ ...exAndPaid(day, paid), special: false, foreign: false }),
  spin_off: exDate,
  name_change: processed,
  worthless_removal: processed,
  cash_merger: effective,
  stock_merger: effective,
  stock_and_cash_merger: effective,
}

/** Rates are numbers in the market data API. */
function ratesOf(action: CorporateAction): object {
  const { type } = action
  const isMerger = type === 'stock_merger' || type === 'stock_and_cash_merger'
  const [made, old] = isMerger
    ? ['acquirer_rate', 'acquiree_rate']
    : ['new_rate', type === 'spin_off' ? 'source_rate' : 'old_rate']
  return {
    ...('newRate' in action && { [made]: Number(action.newRate), [old]: Number(action.oldRate) }),
    ...('rate' in action && { rate: Number(action.rate) }),
    ...('cashRate' in action && {
      [type === 'cash_merger' ? 'rate' : 'cash_rate']: Number(action.cashRate),
    }),
  }
}

function namesOf(type: CorporateAction['type'], symbol: string, successor: string | undefined): object {
  const [own, other] = NAMES[type] ?? ['symbol', 'new_symbol']
  return { [own]: symbol, ...(successor !== undefined && { [other]: successor }) }
}

const MERGED = ['acquiree_symbol', 'acquirer_symbol'] as const
const NAMES: Partial<Record<CorporateAction['type'], readonly [own: string, other: string]>> = {
  name_change: ['old_symbol', 'new_symbol'],
  spin_off: ['source_symbol', 'new_symbol'],
  cash_merger: MERGED,
  stock_merger: MERGED,
  stock_and_cash_merger: MERGED,
}
