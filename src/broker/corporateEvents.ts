// What a corporate action does to holders: announced and booked, and the same in both.
import type { Announcement, Booking, CorporateEvent } from '../protocol/actionReport.js'
import { type CorporateAction, claimMoment } from '../protocol/corporateActions.js'
import { add, type Ratio, ratio, scaled } from '../protocol/ratio.js'
import { ONE_CENT, ONE_SHARE } from '../protocol/units.js'
import type { ActionKind } from './announcements.js'
import { dayNumber, daysBetween, startOf } from './newYork.js'

/** An entry for `CorporateActions`, all of whose fields it has. A PAYMENT's entitlement is the ENTITLEMENT of the same plan. */
export interface ActionTerms {
  readonly kind: CorporateAction['kind']
  readonly symbol: string
  /** Unix seconds. */
  readonly recordAt: number
  readonly numerator: bigint
  readonly denominator: bigint
  /** Of a SYMBOL_CHANGE, else empty. */
  readonly successor: string
}

/** A booking and its announcement lie this far apart at the most. A merger takes longest to be booked. */
const MAX_DAYS_APART = 45

/** Each booking with its announcement, and the announcements that were not booked, the oldest day first. */
export function eventsOf(all: readonly Announcement[], bookings: readonly Booking[]): CorporateEvent[] {
  const waiting = new Set(mergedByDay(all))
  const booked = bookings.map((booking): CorporateEvent => {
    const [announced = null] = [...waiting]
      .filter((each) => isOf(each, booking))
      .sort((a, b) => distance(a, booking) - distance(b, booking))
    if (announced) waiting.delete(announced)
    const own = booking.kind === 'cash-dividend' ? (booking.recordedOn ?? booking.day) : booking.day
    const { kind, symbol, successor, day } = announced ?? { ...booking, day: own }
    return { kind, symbol, successor, day, announced, booked: booking }
  })
  const unbooked = [...waiting].map((announced): CorporateEvent => {
    const { kind, symbol, successor, day } = announced
    return { kind, symbol, successor, day, announced, booked: null }
  })
  return [...booked, ...unbooked].sort((a, b) => (a.day < b.day ? -1 : 1))
}

/** What a dividend pays beside another one of the same days is booked with it. */
function mergedByDay(all: readonly Announcement[]): Announcement[] {
  const keyOf = ({ id, kind, symbol, days }: Announcement) =>
    kind === 'cash-dividend' ? [symbol, ...days].join() : id
  return [...Map.groupBy(all, keyOf).values()].flatMap((group) =>
    group.slice(0, 1).map((first) => ({
      ...first,
      cash: group
        .slice(1)
        .reduce((cash, each) => (cash && each.cash ? add(cash, each.cash) : null), first.cash),
      foreign: group.some(({ foreign }) => foreign),
    })),
  )
}

const RATIOS: ReadonlySet<ActionKind> = new Set(['split', 'stock-dividend'])

function isOf(announced: Announcement, booking: Booking): boolean {
  const isKind = announced.kind === booking.kind || (RATIOS.has(announced.kind) && RATIOS.has(booking.kind))
  const isSymbol =
    booking.symbol === '' ? booking.successor === announced.successor : booking.symbol === announced.symbol
  return isKind && isSymbol && distance(announced, booking) <= MAX_DAYS_APART
}

/** Days between a booking and the nearest day of an announcement; less than any where both name one record date. */
function distance({ days, recordedOn }: Announcement, booking: Booking): number {
  if (recordedOn !== null && recordedOn === booking.recordedOn) return -1
  return Math.min(...days.map((day) => daysBetween(day, booking.day)))
}

/** Why a person has to decide about an event; `not-booked`: nobody yet. */
export type Unplanned =
  | ('not-booked' | 'not-announced' | 'days-differ' | 'terms-differ')
  | ('shares-not-stated' | 'needs-cash' | 'unknown-kind' | 'not-income' | 'unreadable')

/** What has to be entered on chain, or why that is not known. */
export type Plan = ActionTerms[] | Unplanned

/** What the owner knows beside the broker's books. */
export interface Decision {
  /** The booking counts, also where there is no announcement or another one. */
  readonly asBooked?: boolean | undefined
  /** USD with 6 decimals that the holders are to get for what came. */
  readonly cash?: bigint | undefined
}

/**
 * What has to be entered on chain, in this order. No portfolio gets more by it than was booked: each holder's part is rounded down.
 * A cash dividend's ENTITLEMENT comes before the booking.
 */
export function planOf(event: CorporateEvent, decision: Decision = {}): Plan {
  const { kind, booked, announced } = event
  if (decision.asBooked === true && booked !== null && kind !== 'cash-dividend' && event.day !== booked.day) {
    return planOf({ ...event, day: booked.day }, decision)
  }
  if (booked === null) return kind === 'cash-dividend' ? [entitlement(event)] : 'not-booked'
  if (kind === 'other' || kind === 'spin-off') return resolvedByCash(event, booked, decision)
  if (decision.asBooked !== true) {
    if (announced === null) return 'not-announced'
    if (distance(announced, booked) > 0) return 'days-differ'
  }
  if (kind === 'removal') return [terms(event, 'REMOVAL')]
  if (booked.before === null || booked.before === 0n) return 'shares-not-stated'
  const whole = { ...booked, before: booked.before }
  if (kind === 'merger' && booked.made > 0n && decision.cash !== undefined)
    return soldInMerger(event, whole, decision.cash)
  const trusted = decision.asBooked === true ? null : announced
  if (kind === 'cash-dividend') return cashDividend(event, whole, trusted)
  if (trusted && trusted.successor !== booked.successor) return 'terms-differ'
  return exchanged(event, whole, trusted)
}

type Whole = Booking & { readonly before: bigint }

function cashDividend(event: CorporateEvent, booked: Whole, announced: Announcement | null): Plan {
  if (booked.cash < 0n || booked.gross <= 0n) return 'terms-differ'
  if (!booked.isIncome && announced !== null) return 'not-income'
  if (announced?.cash && !isPaid(booked, announced.cash, announced.foreign)) return 'terms-differ'
  return [entitlement(event), payment(event, booked, booked.cash)]
}

/** Whether the gross amount is the announced one, to the cent; of a foreign issuer it may be less. */
function isPaid({ before, gross }: Whole, perShare: Ratio, foreign = false): boolean {
  const expected = (before * perShare.numerator * 1_000_000n) / (perShare.denominator * ONE_SHARE)
  const difference = gross - expected
  return difference <= ONE_CENT && (foreign || difference >= -ONE_CENT)
}

/** A split, a stock dividend, another name, a merger: shares for shares, with cash beside them or without. */
function exchanged(event: CorporateEvent, booked: Whole, announced: Announcement | null): Plan {
  const { made, cash } = booked
  if (announced?.cash && !isPaid(booked, announced.cash)) return 'terms-differ'
  if (cash < 0n || (made === 0n && event.kind !== 'merger')) return 'terms-differ'
  const rate = made === 0n ? null : rateOf(event.kind, booked, announced)
  if (made > 0n && rate === null) return 'terms-differ'
  if (announced?.shares && made === 0n) return 'terms-differ'
  const isOne = rate === null || rate.numerator === rate.denominator
  return [
    ...(cash > 0n ? [entitlement(event), payment(event, booked, cash)] : []),
    ...(isOne ? [] : [terms(event, ratioKindOf(event), rate)]),
    ...(booked.successor === '' ? [] : [terms(event, 'SYMBOL_CHANGE')]),
    ...(made === 0n ? [terms(event, 'REMOVAL')] : []),
  ]
}

/** The kind of the entry that multiplies an event's shares: as it was booked, because an announcement is forgotten after a year. */
export function ratioKindOf({ kind, booked }: CorporateEvent): 'SPLIT' | 'STOCK_DIVIDEND' {
  return (booked?.kind ?? kind) === 'stock-dividend' ? 'STOCK_DIVIDEND' : 'SPLIT'
}

/**
 * The announced rate where the booking has all shares that it makes; else what was booked, where the broker paid cash for the fraction
 * of a share. Null where they differ.
 */
function rateOf(kind: ActionKind, { before, made }: Whole, announced: Announcement | null): Ratio | null {
  const booked = ratio(made, before)
  if (announced === null) return booked
  if (announced.shares === null) return null
  const candidates = kind === 'stock-dividend' ? stockRates(announced.shares) : [announced.shares]
  for (const rate of candidates) {
    const rest = made - scaled(before, rate)
    if (rest < slackOf(made) && rest > -slackOf(made)) return rest >= 0n ? rate : booked
  }
  return null
}

/** Whether all shares of a booking times a rate are what it made of them, and no more: for a fraction of a share the broker pays cash. */
export function isRateOf(rate: Ratio, { before, made }: Pick<Whole, 'before' | 'made'>): boolean {
  const rest = made - scaled(before, rate)
  return before > 0n && rest >= 0n && rest < slackOf(made)
}

/** Where the broker has made whole shares, a fraction may be gone; else no more than was rounded. */
function slackOf(made: bigint): bigint {
  return made % ONE_SHARE === 0n ? ONE_SHARE : 2n
}

/** The broker states a stock dividend of 5 % as 0.05, or as 1.05. */
function stockRates(rate: Ratio): Ratio[] {
  return [add(rate, ratio(1n, 1n)), rate]
}

/** What the platform cannot hold for accounts is sold, and its proceeds are theirs. */
function resolvedByCash(event: CorporateEvent, booked: Booking, { cash }: Decision): Plan {
  if (booked.isUnreadable && cash !== 0n) return 'unreadable'
  if (cash === undefined) return event.kind === 'other' ? 'unknown-kind' : 'needs-cash'
  if (cash === 0n) return [entitlement(event), payment(event, { ...booked, before: 1n }, 0n)]
  if (booked.before === null || booked.before === 0n) return 'shares-not-stated'
  return [entitlement(event), payment(event, { ...booked, before: booked.before }, cash)]
}

/** The same where a merger's shares cannot be entered. The cash is in the broker's fills, so the claim is not one of the merger's own. */
function soldInMerger(event: CorporateEvent, booked: Whole, cash: bigint): Plan {
  return [
    ...[entitlement({ ...event, kind: 'other' }), payment(event, booked, cash)],
    terms(event, 'REMOVAL'),
  ]
}

function terms(
  { symbol, successor, booked, day }: CorporateEvent,
  kind: ActionTerms['kind'],
  rate: Ratio | null = null,
): ActionTerms {
  const name = booked?.successor || successor
  return {
    ...{ kind, symbol, recordAt: startOf(day) },
    ...{ numerator: rate?.numerator ?? 0n, denominator: rate?.denominator ?? 0n },
    successor: kind === 'SYMBOL_CHANGE' ? name : '',
  }
}

/** Below an hour, with those of {@link claimMoment}. */
const DIVIDEND_SECONDS = 3_000

/**
 * Holdings count as they were before the day, so that a split of that day does not change them. Each event has a second of its own: the
 * contract takes no action twice.
 */
function entitlement(event: CorporateEvent): ActionTerms {
  const { kind, announced, booked, day } = event
  const paidOn = announced?.days.at(0) ?? booked?.day ?? day
  const start = startOf(day)
  const isDividend = kind === 'cash-dividend' || kind === 'removal'
  const recordAt = isDividend ? start - 11 - (dayNumber(paidOn) % DIVIDEND_SECONDS) : claimMoment(start, kind)
  return { ...terms(event, 'ENTITLEMENT'), recordAt }
}

/** The claims that an event may have in the list: the owner may have let the day of the booking count. */
export function claimsOf(event: CorporateEvent): ActionTerms[] {
  const { booked, kind } = event
  const isMoved = booked !== null && kind !== 'cash-dividend' && booked.day !== event.day
  return [event, ...(isMoved ? [{ ...event, day: booked.day }] : [])].map(entitlement)
}

const UINT64 = 2n ** 64n
/** Decimals beyond a base unit, for a rate that has no exact form in 64 bits. */
const FINE = 10n ** 9n

/** The cash, divided among the shares. The contract pays a claim once. */
function payment(event: CorporateEvent, booked: Whole, cash: bigint): ActionTerms {
  const exact = ratio(cash * ONE_SHARE, booked.before)
  const isExact = exact.numerator < UINT64 && exact.denominator < UINT64
  const rate = isExact ? exact : { numerator: (cash * ONE_SHARE * FINE) / booked.before, denominator: FINE }
  return { ...terms(event, 'PAYMENT', rate), recordAt: startOf(booked.day) }
}
