// A limit order at the broker: a placement for each day, one after the other. Pure.
import { type BrokerOrder, joinedWith, type TradeActivity } from '../../broker/index.js'
import { type CorporateAction, changesShares, successorOf } from '../../protocol/corporateActions.js'
import type { OpenOrder } from '../../protocol/portfolio.js'
import { scaled } from '../../protocol/ratio.js'
import { costOf, isSaleTradable, meetsBrokerMinimum, min, notionalAtBroker, USDC, worthOf } from '../money.js'

/** An order at the broker: its last placement, and those before it, which have ended. */
export interface Placed {
  order: BrokerOrder
  /** The oldest first; empty unless a limit order was renewed. */
  earlier: readonly BrokerOrder[]
}

/** All placements as one: ordered as the first, standing as the last, with the fills of all. */
export function wholeOf({ order, earlier }: Placed): BrokerOrder {
  const [first, ...others] = earlier
  return first ? joinedWith(first, [...others, order]) : order
}

/** Whether another placement may have followed this one, whatever the order's time in force: the broker's answer alone tells. */
export function mayHaveFollower({ limitPrice, state }: BrokerOrder): boolean {
  return limitPrice !== null && (state === 'expired' || state === 'canceled')
}

/**
 * Whether the rest of an order is to be placed again: of one `GTD`, and of one that was cancelled at a limit which was not its own. Only the order's entry and ended placements decide, so all runs decide alike: an
 * order of which this is false is at its end, without a mark.
 */
export function isRenewable(entry: OpenOrder, placed: Placed): boolean {
  const { state, limitPrice } = placed.order
  const wasHeldBack = state === 'canceled' && limitPrice !== (entry.limit?.price ?? null)
  const isAgain = entry.limit?.timeInForce === 'GTD' || wasHeldBack
  return isAgain && mayHaveFollower(placed.order) && restOf(entry, placed) > 0n
}

/** What a limit order has left to place: USDC base units of a buy, share base units of a sale. 0 for less than the broker takes. */
export function restOf({ side, notional, locked, limit }: OpenOrder, placed: Placed): bigint {
  const whole = wholeOf(placed)
  if (side === 'BUY') {
    const left = notionalAtBroker(notional) - costOf(whole)
    return meetsBrokerMinimum(left) ? left : 0n
  }
  const left = min(whole.qty ?? 0n, locked) - whole.filledQty
  const worth = worthOf(left, limit?.price ?? placed.order.limitPrice ?? 0n)
  return left > 0n && isSaleTradable(left, worth) ? left : 0n
}

/** Shares that were traded at a moment, as they were called and counted then. */
export interface TimedFill {
  readonly symbol: string
  /** Base units. */
  readonly qty: bigint
  readonly at: Date | null
}

/**
 * When an order was filled. Its end says so, unless a corporate action lies between placement and end: then the account's entries do.
 * Null where they are needed and do not add up to what was filled.
 * @param entries the account's fills since the placement; absent if they were not read
 */
export function timedFills(
  { id, symbol, filledQty, createdAt, endedAt }: BrokerOrder,
  actions: readonly CorporateAction[],
  entries?: readonly TradeActivity[],
): readonly TimedFill[] | null {
  const isPlain = actionsSince(createdAt, actions).length === actionsSince(endedAt, actions).length
  if (filledQty === 0n || isPlain) return [{ symbol, qty: filledQty, at: endedAt }]
  const own = (entries ?? []).filter(({ orderId }) => orderId === id)
  return own.reduce((sum, { qty }) => sum + qty, 0n) === filledQty ? own : null
}

/** The shares that fills have become by the actions after each, rounded down. @param actions those that the portfolio has followed */
export function sharesToday(fills: readonly TimedFill[], actions: readonly CorporateAction[]) {
  return fills.map(({ symbol, qty, at }) => carriedShares({ symbol, qty }, actionsSince(at, actions)))
}

/** Those that count for shares of a moment; none without one. */
export function actionsSince(moment: Date | null, actions: readonly CorporateAction[]) {
  const seconds = (moment?.getTime() ?? Number.POSITIVE_INFINITY) / 1_000
  return actions.filter(({ recordAt }) => recordAt > seconds)
}

/** What shares are after these actions, each ratio rounded down. */
export function carriedShares(
  { symbol, qty }: { readonly symbol: string; readonly qty: bigint },
  actions: readonly CorporateAction[],
) {
  const today = successorOf(symbol, actions)
  return { symbol: today.symbol, qty: today.ratios.reduce(scaled, qty) }
}

/**
 * Whether an order counts in other shares than those of today, by its limit, its quantity, or that of its placements.
 * @param since the actions since the employee counted
 */
export function isOutdated(
  { side, symbol, limit }: Pick<OpenOrder, 'side' | 'symbol' | 'limit'>,
  since: readonly CorporateAction[],
  earlier: Placed['earlier'] = [],
): boolean {
  const countsShares = limit !== undefined || earlier.length > 0 || (side === 'WITHDRAW' && symbol !== USDC)
  const isOfSymbol = (action: CorporateAction) =>
    action.symbol === symbol || (action.kind === 'SYMBOL_CHANGE' && action.successor === symbol)
  return countsShares && since.some((action) => changesShares(action) && isOfSymbol(action))
}
