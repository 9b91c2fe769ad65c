// What the public list has of an event. An entry counts for an event by its symbol, its kind and its days, as the owner may enter other
// figures than those announced.
import type { Booking, CorporateEvent } from '../protocol/actionReport.js'
import { type CorporateAction, endsSymbol, isRatio, paidForAt } from '../protocol/corporateActions.js'
import { ONE_SHARE } from '../protocol/units.js'
import { type ActionTerms, claimsOf, ratioKindOf } from './corporateEvents.js'
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

/**
 * The payments of the list that the books do not bear: each needs a booking of its symbol and day for itself, with at least its cash. What
 * came of shares that the owner sold (a spin-off's, and what is not carried out) is in the account's fills: there the booking is needed alone.
 */
export function unbornePayments(
  actions: readonly CorporateAction[],
  bookings: readonly Booking[],
): CorporateAction[] {
  const left = [...bookings].sort((a, b) => (a.cash < b.cash ? -1 : 1))
  return actions.filter((action) => {
    if (action.kind !== 'PAYMENT' || action.numerator === 0n) return false
    const claim = actions.find(({ index }) => index === action.entitlement)
    const paidFor = claim ? paidForAt(claim.recordAt) : null
    const isSold = paidFor === 'spin-off' || paidFor === 'other'
    const at = left.findIndex(({ symbol, day, before, cash }) => {
      if (symbol !== action.symbol || startOf(day) !== action.recordAt) return false
      return isSold || action.numerator * (before ?? 0n) <= cash * action.denominator * ONE_SHARE
    })
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
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

/** An action that was announced and never booked ends by itself: the account held none. */
function isHalting({ kind, day, booked }: CorporateEvent, today: string): boolean {
  if (kind === 'cash-dividend' || day > today) return false
  const patience = kind === 'split' || kind === 'stock-dividend' ? UNBOOKED_DAYS.split : UNBOOKED_DAYS.other
  return booked !== null || today <= dayAfter(day, patience)
}
