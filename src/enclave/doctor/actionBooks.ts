// An account's orders again, with the corporate actions between them; and what dividends have credited, against what was booked. Pure.
import { type BookedEntry, bookingsOf, eventsOf, haltedOn } from '../../broker/index.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import type { Booking } from '../../protocol/actionReport.js'
import { type CorporateAction, carry, paidForAt } from '../../protocol/corporateActions.js'
import type { Hex } from '../../protocol/hex.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import { ONE_SHARE } from '../../protocol/units.js'
import { replay } from './replay.js'

/** Corporate actions and the ends of orders, in the order of the chain: a place is the number of their events before. */
export interface ActionHistory {
  /** The whole list. */
  readonly actions: readonly CorporateAction[]
  /** The place at which each of them entered it. */
  readonly entered: readonly number[]
  /** The place at which each order was settled or refunded. */
  readonly ended: ReadonlyMap<Hex, number>
  /** The place of each record moment of a dividend: what ended before it counts. */
  readonly moments: ReadonlyMap<number, number>
}

/** After everything that has happened. */
const NOW = Number.MAX_SAFE_INTEGER

type Known = readonly [Hex, EscrowedOrder]

/** One account's orders, of which those in its portfolio are left out: they have had no effect yet. */
export function createReplay(
  orders: readonly Known[],
  { actions, entered, ended, moments }: ActionHistory,
  deps: Parameters<typeof replay>[1],
) {
  const placeOf = ([orderId]: Known) => ended.get(orderId) ?? NOW - 1
  const sorted = [...orders].sort((a, b) => placeOf(a) - placeOf(b))
  const found = new Map<number, Portfolio>()

  /** Shares, claims and dividends as they stand before a place. */
  function at(place: number): Portfolio {
    const known = found.get(place)
    if (known) return known
    let now: Portfolio = {
      cash: 0n,
      positions: {},
      openOrders: {},
      nonce: 0,
      userPubKey: '0x',
      writtenAt: NOW,
    }
    for (const order of sorted) {
      if (placeOf(order) >= place) break
      const before = followed(now, placeOf(order))
      const known = actions.slice(0, before.actions ?? 0)
      now = traded(before, replay([order], { ...deps, actions: known }).positions)
    }
    const whole = followed(now, place)
    found.set(place, whole)
    return whole
  }

  function followed(portfolio: Portfolio, place: number): Portfolio {
    const until = entered.findIndex((each) => each >= place)
    const list = actions.slice(0, until === -1 ? actions.length : until)
    const earlier = new Map(
      list
        .filter(({ kind, index }) => kind === 'ENTITLEMENT' && index >= (portfolio.actions ?? 0))
        // A claim may enter in the very second of its moment, and never counts for itself.
        .map(({ recordAt, index }) => {
          const before = Math.min(moments.get(recordAt) ?? 0, entered[index] ?? 0)
          return [recordAt, [at(before)]] as const
        }),
    )
    return carry(portfolio, list, earlier)
  }

  return {
    /** What the account has now. */
    now() {
      const { cash } = replay(orders, deps)
      const { positions, cash: paid } = at(NOW)
      return { positions, cash: { least: cash.least + paid, most: cash.most + paid } }
    },
    /** USDC base units that it got of a dividend. */
    creditOf({
      index,
      entitlement,
      numerator,
      denominator,
    }: Extract<CorporateAction, { kind: 'PAYMENT' }>): bigint {
      const qty = at(entered[index] ?? 0).entitlements?.[entitlement] ?? 0n
      return (qty * numerator) / (denominator * ONE_SHARE)
    },
  }
}

export type Replay = ReturnType<typeof createReplay>

function traded(portfolio: Portfolio, changes: ReadonlyMap<string, bigint>): Portfolio {
  const positions = { ...portfolio.positions }
  for (const [symbol, change] of changes) {
    const qty = (positions[symbol]?.qty ?? 0n) + change
    positions[symbol] = { qty, locked: 0n }
    if (qty === 0n) delete positions[symbol]
  }
  return { ...portfolio, positions }
}

/** USDC base units of a symbol's dividends: what the broker has booked, and what portfolios got of it. */
export interface DividendBooks {
  readonly symbol: string
  readonly booked: bigint
  readonly credited: bigint
}

/**
 * Symbol by symbol; one that has another name now counts under that. What came of shares that the owner sold at the broker is in its
 * fills, not in these entries.
 */
export function dividendBooks(
  entries: readonly BookedEntry[],
  history: ActionHistory,
  replays: readonly Replay[],
): DividendBooks[] {
  const bookings = bookingsOf(entries)
  const renamed = new Map(
    history.actions.flatMap((action) =>
      action.kind === 'SYMBOL_CHANGE' ? [[action.symbol, action.successor] as const] : [],
    ),
  )
  const nameOf = (symbol: string): string => {
    const successor = renamed.get(symbol)
    return successor === undefined ? symbol : nameOf(successor)
  }
  const books = new Map<string, { booked: bigint; credited: bigint }>()
  const of = (symbol: string) => {
    const found = books.get(nameOf(symbol)) ?? { booked: 0n, credited: 0n }
    books.set(nameOf(symbol), found)
    return found
  }
  const isSold = ({ kind }: Booking) => kind === 'spin-off' || kind === 'other'
  for (const booking of bookings) if (!isSold(booking)) of(booking.symbol).booked += booking.cash
  for (const action of history.actions) {
    if (action.kind !== 'PAYMENT') continue
    const claim = history.actions[action.entitlement]
    const paidFor = claim ? paidForAt(claim.recordAt) : null
    if (paidFor === 'spin-off' || paidFor === 'other') continue
    const credits = replays.map((each) => each.creditOf(action))
    of(action.symbol).credited += credits.reduce((sum, credit) => sum + credit, 0n)
  }
  return [...books]
    .map(([symbol, book]) => ({ symbol, ...book }))
    .filter(({ booked, credited }) => booked !== 0n || credited !== 0n)
}

/** Symbols whose shares the broker has exchanged, and the list not yet: the two count in different units. */
export function exchangedSymbols(
  entries: readonly BookedEntry[],
  { actions }: ActionHistory,
): ReadonlySet<string> {
  return haltedOn('9999-12-31', eventsOf([], bookingsOf(entries)), actions)
}
