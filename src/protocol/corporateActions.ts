// Corporate actions are public; a portfolio follows them when it is opened. Enclave and client carry it by this file alone.
import * as z from 'zod/mini'
import { ProtocolError } from './errors.js'
import { timestampSchema } from './orderTerms.js'
import type { OpenOrder, Portfolio, Position } from './portfolio.js'
import { scaled } from './ratio.js'
import { ONE_SHARE, uint64Schema } from './units.js'

/** No action that the owner has entered can stop the portfolios of others: the contract takes names that are no tickers. */
const nameSchema = z.string().check(z.maxLength(31))
const shape = {
  /** Its place in the contract's list, from 0. */
  index: z.int().check(z.minimum(0)),
  symbol: nameSchema,
  /** Unix seconds: holdings count as they were at this moment. */
  recordAt: timestampSchema,
}
const positive = uint64Schema.check(z.refine((value) => value > 0n))

/** An entry of `CorporateActions`. */
export const corporateActionSchema = z.discriminatedUnion('kind', [
  /** `denominator` shares become `numerator`; a stock dividend of 5 % is 21 for 20. */
  z.strictObject({
    kind: z.enum(['SPLIT', 'STOCK_DIVIDEND']),
    ...shape,
    numerator: positive,
    denominator: positive,
  }),
  /** The ex-date of a cash dividend, or the last moment before a day on which cash comes for shares: {@link paidForAt}. */
  z.strictObject({ kind: z.literal('ENTITLEMENT'), ...shape }),
  /** The broker booked the cash: `numerator / denominator` USDC base units a share, net of withholding; 0 if it was cancelled. */
  z.strictObject({
    kind: z.literal('PAYMENT'),
    ...shape,
    numerator: uint64Schema,
    denominator: positive,
    /** The index of its ENTITLEMENT. */
    entitlement: z.int().check(z.minimum(0)),
  }),
  z.strictObject({ kind: z.literal('SYMBOL_CHANGE'), ...shape, successor: nameSchema }),
  /** The shares are worthless, or what a merger pays is all that is left of them. */
  z.strictObject({ kind: z.literal('REMOVAL'), ...shape }),
])
export type CorporateAction = z.output<typeof corporateActionSchema>

/** What cash is paid for that is no dividend. The order is part of the format: a claim's second names the place in it. */
export const PAID_FOR = ['split', 'stock-dividend', 'merger', 'spin-off', 'symbol-change', 'other'] as const
export type PaidFor = (typeof PAID_FOR)[number]

/** The record moment of a claim to such cash. @param dayStart the midnight in New York with which the event's day begins */
export function claimMoment(dayStart: number, paidFor: PaidFor): number {
  return dayStart - 1 - PAID_FOR.indexOf(paidFor)
}

const [HOUR_S, DAY_S] = [3_600, 86_400]

/** What the claim of a record moment pays for; null for a dividend. */
export function paidForAt(recordAt: number): PaidFor | null {
  const place = HOUR_S - 1 - (recordAt % HOUR_S)
  const hour = ((recordAt + 1 + place) % DAY_S) / HOUR_S
  // New York is five hours behind UTC, or four.
  return hour === 5 || hour === 4 ? (PAID_FOR[place] ?? null) : null
}

type Holdings = Pick<Portfolio, 'positions' | 'openOrders' | 'actions'>

/**
 * The record moments for which the stored portfolio can't answer, because it was written after them: {@link carry} needs the
 * portfolios that stood at these moments.
 */
export function lateMoments(portfolio: Portfolio, actions: readonly CorporateAction[]): number[] {
  const late = actionsAfter(portfolio, actions)
    .filter(({ kind, recordAt }) => kind === 'ENTITLEMENT' && !standsAt(portfolio, recordAt))
    .map(({ recordAt }) => recordAt)
  return [...new Set(late)]
}

/** Whether a portfolio was written by this moment. One without a time is older than every action. */
export function standsAt({ writtenAt = 0 }: Portfolio, moment: number): boolean {
  return writtenAt <= moment
}

/**
 * A stored portfolio after all actions of the list that it has not followed yet. Each amount is rounded down.
 * @param actions the contract's list, without gaps; its beginning may be absent where no portfolio here needs it
 * @param earlier the portfolios at each of {@link lateMoments} whose shares are the account's today: none where there was none yet, several
 *   where a lost wallet's has moved to it
 * @throws ProtocolError `invalid-actions`
 */
export function carry(
  portfolio: Portfolio,
  actions: readonly CorporateAction[],
  earlier: ReadonlyMap<number, readonly Portfolio[]> = new Map(),
): Portfolio {
  let carried = portfolio
  for (const action of actionsAfter(portfolio, actions)) {
    carried = { ...after(carried, action), actions: action.index + 1 }
  }
  return carried

  function after(now: Portfolio, action: CorporateAction): Portfolio {
    if (action.kind === 'PAYMENT') return paid(now, action)
    if (action.kind !== 'ENTITLEMENT') return { ...now, ...moved(now, action) }
    const { index, recordAt } = action
    const bases = standsAt(portfolio, recordAt) ? [portfolio] : earlier.get(recordAt)
    if (bases === undefined) throw new ProtocolError('invalid-actions', 'a record moment has no portfolio')
    const qty = bases.reduce((sum, base) => sum + heldAt(base, action, actions), 0n)
    return qty === 0n ? now : { ...now, entitlements: { ...now.entitlements, [index]: qty } }
  }
}

/** This symbol and the former ones of its shares, the last one first. A freeze, or a rulebook, may be older than the last of them. */
export function formerNamesOf(symbol: string, actions: readonly CorporateAction[]): string[] {
  const names = [symbol]
  for (const action of [...actions].reverse()) {
    if (action.kind === 'SYMBOL_CHANGE' && names.includes(action.successor)) names.push(action.symbol)
  }
  return names
}

/** Whether an action makes other shares of a symbol's; a dividend does not. */
export function changesShares({ kind }: CorporateAction): boolean {
  return kind !== 'ENTITLEMENT' && kind !== 'PAYMENT'
}

/** The symbols that have changed or were removed: none of them is listed, and wallets may hold shares under each. */
export function retiredSymbols(actions: readonly CorporateAction[]): string[] {
  return actions.filter(({ kind }) => endsSymbol(kind)).map(({ symbol }) => symbol)
}

/** Whether nobody trades under the symbol from then on. */
export function endsSymbol(kind: CorporateAction['kind']): boolean {
  return kind === 'SYMBOL_CHANGE' || kind === 'REMOVAL'
}

/** Whether the action multiplies shares, by its numerator and denominator. */
export function isRatio(
  action: CorporateAction,
): action is Extract<CorporateAction, { kind: 'SPLIT' | 'STOCK_DIVIDEND' }> {
  return action.kind === 'SPLIT' || action.kind === 'STOCK_DIVIDEND'
}

/** What shares under a symbol are today: under which last one, and by which ratios, the oldest first. */
export function successorOf(symbol: string, actions: readonly CorporateAction[]) {
  let last = symbol
  const ratios: { numerator: bigint; denominator: bigint }[] = []
  for (const action of actions) {
    if (action.symbol !== last) continue
    if (action.kind === 'SYMBOL_CHANGE') last = action.successor
    else if (isRatio(action)) ratios.push(action)
  }
  return { symbol: last, ratios }
}

/** The actions that a portfolio has not followed yet. */
function actionsAfter({ actions: followed = 0 }: Holdings, actions: readonly CorporateAction[]) {
  const others = actions.filter(({ index }) => index >= followed)
  if (others.some(({ index }, at) => index !== followed + at)) {
    throw new ProtocolError('invalid-actions', 'an action is missing')
  }
  return others
}

/** The shares of a dividend's symbol at its record moment, in the units of that moment. */
function heldAt(
  base: Holdings,
  { index, symbol, recordAt }: CorporateAction,
  actions: readonly CorporateAction[],
) {
  let held = base
  for (const action of actionsAfter(base, actions)) {
    if (action.index < index && action.recordAt <= recordAt) held = moved(held, action)
  }
  return held.positions[symbol]?.qty ?? 0n
}

/** What an action makes of positions, and of the shares that open orders lock. */
function moved(
  { positions, openOrders }: Holdings,
  action: CorporateAction,
): Pick<Holdings, 'positions' | 'openOrders'> {
  const { kind, symbol } = action
  if (kind === 'ENTITLEMENT' || kind === 'PAYMENT') return { positions, openOrders }
  const successor = kind === 'SYMBOL_CHANGE' ? action.successor : symbol
  const { [symbol]: before, ...others } = positions
  const after = (amount: bigint) => {
    if (kind === 'REMOVAL') return 0n
    return kind === 'SYMBOL_CHANGE' ? amount : scaled(amount, action)
  }
  const orders = Object.entries(openOrders).map(([id, order]): [string, OpenOrder] =>
    order.symbol === symbol
      ? [id, { ...order, symbol: successor, locked: after(order.locked) }]
      : [id, order],
  )
  const locked = orders
    .filter(([, order]) => order.symbol === successor)
    .reduce((sum, [, order]) => sum + order.locked, 0n)
  const position: Position = { qty: after(before?.qty ?? 0n) + (others[successor]?.qty ?? 0n), locked }
  return {
    positions: position.qty === 0n ? others : { ...others, [successor]: position },
    openOrders: Object.fromEntries(orders),
  }
}

/** Credits a dividend on the shares that were entitled to it. */
function paid(
  portfolio: Portfolio,
  { entitlement, numerator, denominator }: Extract<CorporateAction, { kind: 'PAYMENT' }>,
): Portfolio {
  const { entitlements: all = {}, ...others } = portfolio
  const { [entitlement]: qty = 0n, ...entitlements } = all
  const cash = portfolio.cash + (qty * numerator) / (denominator * ONE_SHARE)
  return { ...others, cash, ...(Object.keys(entitlements).length > 0 && { entitlements }) }
}
