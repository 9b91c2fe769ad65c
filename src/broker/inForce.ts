// What the public list has of an event. An entry counts for an event by its symbol, its kind and its days, as the owner may enter other
// figures than those announced.
import type { Booking, CorporateEvent } from '../protocol/actionReport.js'
import { type CorporateAction, endsSymbol, isRatio, paidForAt } from '../protocol/corporateActions.js'
import { ONE_SHARE } from '../protocol/units.js'
import { type ActionTerms, claimsOf, isRateOf, ratioKindOf } from './corporateEvents.js'
import { dayAfter, startOf } from './newYork.js'

/** No symbol has two splits, nor two stock dividends, within so many seconds. */
const SAME_SPLIT_S = 7 * 86_400
/** Days for which an action that the broker has not booked keeps its symbol halted. A merger may be booked weeks after its day. */
export const UNBOOKED_DAYS = { split: 7, other: 45 }

/**
 * The entry of the list that is this one; undefined if there is none.
 * @param claim of a PAYMENT, the index of its ENTITLEMENT: two may be booked on one day
 */
export function entryOf(
  { kind, symbol, recordAt }: Pick<ActionTerms, 'kind' | 'symbol' | 'recordAt'>,
  actions: readonly CorporateAction[],
  claim?: number,
): CorporateAction | undefined {
  return actions.find((action) => {
    if (action.symbol !== symbol) return false
    if (kind === 'PAYMENT') return action.kind === kind && action.entitlement === claim
    if (endsSymbol(kind)) return endsSymbol(action.kind)
    const patience = isRatio(action) ? SAME_SPLIT_S : 1
    return action.kind === kind && Math.abs(action.recordAt - recordAt) < patience
  })
}

/** Whether holders got the cash that was booked. */
export function isPaid(event: CorporateEvent, actions: readonly CorporateAction[]): boolean {
  const { symbol } = event
  return claimsOf(event).some((claim) => {
    const index = entryOf(claim, actions)?.index
    const payment = { kind: 'PAYMENT', symbol, recordAt: claim.recordAt } as const
    return index !== undefined && entryOf(payment, actions, index) !== undefined
  })
}

/** Whether an entry of the list gives or takes anything. A claim does not, nor does a payment of nothing. */
export function needsBooking(action: CorporateAction): boolean {
  return action.kind !== 'ENTITLEMENT' && (action.kind !== 'PAYMENT' || action.numerator > 0n)
}

/** The announcement and the booking of one action name days that are no further apart. */
const SAME_ACTION_S = 90 * 86_400

/**
 * The entries of the list that the books do not bear. Each needs a booking of its symbol, which bears one payment, one ratio and one end of
 * the symbol at the most.
 */
export function unborneActions(
  actions: readonly CorporateAction[],
  bookings: readonly Booking[],
): CorporateAction[] {
  const used = new Map<string, Set<Booking>>()
  return actions.filter((action) => {
    if (!needsBooking(action)) return false
    const part = isRatio(action) ? 'ratio' : endsSymbol(action.kind) ? 'end' : 'cash'
    const taken = used.get(part) ?? new Set()
    const [found] = bookings
      .filter((booking) => !taken.has(booking) && booking.symbol === action.symbol)
      .filter((booking) => bears(booking, action, actions))
      .sort((a, b) => apart(a, action) - apart(b, action) || (a.cash < b.cash ? -1 : 1))
    if (found) used.set(part, taken.add(found))
    return found === undefined
  })
}

/** Seconds between an entry's moment and a booking's day. */
function apart({ day }: Booking, { recordAt }: CorporateAction): number {
  return Math.abs(startOf(day) - recordAt)
}

/** @param actions the list, which has a payment's claim */
function bears(booking: Booking, action: CorporateAction, actions: readonly CorporateAction[]): boolean {
  const { kind, before, made, cash } = booking
  if (action.kind === 'PAYMENT') {
    const claim = actions.find(({ index }) => index === action.entitlement)
    const paidFor = claim ? paidForAt(claim.recordAt) : null
    // What came of shares that the owner sold is in the account's fills.
    const isSold = paidFor === 'spin-off' || paidFor === 'other'
    const isCovered = action.numerator * (before ?? 0n) <= cash * action.denominator * ONE_SHARE
    return apart(booking, action) === 0 && (isSold || isCovered)
  }
  if (kind === 'spin-off' || kind === 'other' || apart(booking, action) > SAME_ACTION_S) return false
  if (action.kind === 'SYMBOL_CHANGE') return booking.successor === action.successor
  if (action.kind === 'REMOVAL') return kind === 'removal' || kind === 'merger'
  return isRatio(action) && before !== null && isRateOf(action, { before, made })
}

/** Whether holders have what the action made of their shares. A cash dividend changes no shares. */
export function isInForce(event: CorporateEvent, actions: readonly CorporateAction[]): boolean {
  const { kind, symbol, successor, day, booked } = event
  const has = (wanted: ActionTerms['kind'], on: string) =>
    entryOf({ kind: wanted, symbol, recordAt: startOf(on) }, actions) !== undefined
  if (kind === 'cash-dividend') return true
  if (kind === 'spin-off' || kind === 'other') return isPaid(event, actions)
  const isEnded = has('SYMBOL_CHANGE', day)
  if (kind === 'symbol-change' || kind === 'removal' || kind === 'merger') return isEnded
  const ratioKind = ratioKindOf(event)
  const isMultiplied = has(ratioKind, day) || (booked !== null && has(ratioKind, booked.day))
  return (successor === '' || isEnded) && isMultiplied
}

/**
 * Whether nothing of an event is left to be entered, neither shares nor cash. Of a merger whose new shares were sold, the cash has the claim of
 * other proceeds.
 */
export function isOver(event: CorporateEvent, actions: readonly CorporateAction[]): boolean {
  if (event.kind === 'cash-dividend') return isPaid(event, actions)
  const paying = [event, { ...event, kind: 'other' as const }]
  const isOwed =
    (event.booked?.cash ?? 0n) > 0n ||
    paying.flatMap(claimsOf).some((claim) => entryOf(claim, actions) !== undefined)
  return isInForce(event, actions) && (!isOwed || paying.some((each) => isPaid(each, actions)))
}

/** The symbols with a dividend whose ex-date comes after a day, and until another one. */
export function exBetween(after: string, until: string, events: readonly CorporateEvent[]): string[] {
  return events
    .filter(({ kind, day }) => kind === 'cash-dividend' && after < day && day <= until)
    .map(({ symbol }) => symbol)
}

/** The symbols of which no order may trade on a day: shares of before and after are not to be mixed. */
export function haltedOn(
  day: string,
  events: readonly CorporateEvent[],
  actions: readonly CorporateAction[],
): ReadonlySet<string> {
  const halting = events.filter((event) => isHalting(event, day) && !isInForce(event, actions))
  return new Set(
    halting.flatMap(({ symbol, successor, booked }) => [symbol, successor, booked?.successor ?? '']),
  )
}

/**
 * The broker counts in other shares from the booking on, also where that comes before the announced day. An action that was announced and
 * never booked ends by itself: the account held none.
 */
function isHalting({ kind, day, booked }: CorporateEvent, today: string): boolean {
  const hasBegun = day <= today || (booked !== null && booked.day <= today)
  if (kind === 'cash-dividend' || !hasBegun) return false
  const patience = kind === 'split' || kind === 'stock-dividend' ? UNBOOKED_DAYS.split : UNBOOKED_DAYS.other
  return booked !== null || today <= dayAfter(day, patience)
}
