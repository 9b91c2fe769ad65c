// Which orders are let in, and which of them may still be placed. Pure: every rule stands here, in the order in which it binds.
import { type Asset, type BrokerClock, isBuyable, type OrderRequest } from '../../broker/index.js'
import type { CorporateAction } from '../../protocol/corporateActions.js'
import { clientOrderIdOf } from '../../protocol/identifiers.js'
import type { Intent } from '../../protocol/intent.js'
import { isOnIncrement } from '../../protocol/orderTerms.js'
import { memberRules, type Policy } from '../../protocol/policy.js'
import { freeCash, freeShares, type Portfolio } from '../../protocol/portfolio.js'
import {
  meetsBrokerMinimum,
  min,
  notionalAtBroker,
  sizeSale,
  USDC,
  withDeposit,
  withOrder,
  worthOf,
} from '../money.js'
import type { NoticeCode } from '../notices.js'
import { fits, hasRoom } from '../room.js'
import type { Limits } from '../run.js'
import { type NeverPlaced, newEntry, type OrderTerms, type WrittenAhead } from './life.js'
import { isOutdated, restOf } from './placements.js'
import { SESSION_S } from './retry.js'

/**
 * How far a nonce may lie beyond the stored one and the block's time, both in milliseconds. One that leapt further would leave its
 * account hardly any nonces, and the last one none.
 */
const MAX_NONCE_LEAP_MS = 86_400_000

/** The platform's limits bind when an order is admitted, and not again: a whole balance may have grown since. */
const ADMITTED: Limits = { order: 0n, withdrawal: 0n }

/** The chain's facts about an account and a symbol, at one block. */
export interface ChainFacts {
  /** Unix seconds. */
  blockTime: number
  /** Whether the account is in an institution now, and the platform admits that one. */
  member: boolean
  admitted: boolean
  /** Whether it has said that it leaves: it buys nothing until it has left. */
  leaving: boolean
  /** Its institution's rulebook; null without institution or rulebook. */
  policy: Policy | null
  kyc: boolean
  /** The symbol's names, its own first: a rulebook may restrict a former one. */
  names: readonly string[]
  /** Under any of these names. */
  frozen: boolean
  listed: boolean
  /** Whether its shares were removed as worthless. */
  removed: boolean
}

/** The broker's facts. Each part is read only for an order whose judgement needs it. */
export interface Market {
  clock?: BrokerClock
  /** The asset that the order's symbol names; null when the broker has none. */
  asset?: Asset | null
  /** USD with 6 decimals: the higher of bid and last trade. */
  price?: bigint
}

type Refused = { refused: NoticeCode }
type Needs = { needs: keyof Market }

/** A new order. */
export interface Asked {
  terms: OrderTerms
  intent: Pick<Intent, 'nonce' | 'expiry'>
  /** Null for an account that has none yet. */
  portfolio: Portfolio | null
  limits: Limits
  /** The corporate actions that have come into force since it was opened. */
  enacted: readonly CorporateAction[]
}

/**
 * Whether a new order is let in, and the share base units that a sale locks.
 * @param facts of each block that is looked at: a prohibition at one of them is enough
 */
export function judgeNew(
  { terms, intent, portfolio, limits, enacted }: Asked,
  facts: readonly ChainFacts[],
  market: Market,
): Refused | Needs | { lock: bigint } {
  const refused =
    refusedByIntent(terms, intent, portfolio, facts) ??
    (isOutdated(terms, enacted) ? 'corporate-action' : refusedByChain(terms, facts, portfolio, limits))
  if (refused) return { refused }
  if (!hasRoomFor(terms, portfolio)) return { refused: 'portfolio-full' }
  const { qty: whole = 0n } = portfolio?.positions[terms.symbol] ?? {}
  if (terms.side === 'DEPOSIT') return judgeMove(terms, 0n, limits, market)
  if (terms.side === 'WITHDRAW') return judgeMove(terms, whole, limits, market)
  if (market.clock === undefined) return { needs: 'clock' }
  if (isClosedUntil(terms.deadline, market.clock)) return { refused: 'closed-until-deadline' }
  if (terms.side === 'BUY') return judgeAsset(market) ?? { lock: 0n }
  const available = portfolio ? freeShares(portfolio, terms.symbol) : 0n
  const sale = judgeSale(terms, market, { available, whole, least: limits.order })
  return 'qty' in sale ? { lock: sale.qty } : sale
}

/**
 * Whether an order that is in the portfolio may be placed now, its own lock and reservation counting as free; a limit order that was
 * placed before, for the rest of it. It stays refused once it was marked, whatever the reason has become.
 * @param without the portfolio without the order
 */
export function judgeWrittenAhead(
  order: WrittenAhead | NeverPlaced,
  without: Portfolio,
  { facts, actions }: { facts: readonly ChainFacts[]; actions: readonly CorporateAction[] },
  market: Market & { clock: BrokerClock },
): Refused | Needs | { isClosed: true } | { order: WrittenAhead; place: OrderRequest } {
  const { terms, entry } = order
  const refused = refusedByChain(terms, facts, without, ADMITTED)
  if (refused) return { refused }
  if (isClosedUntil(terms.deadline, market.clock)) return { refused: 'closed-until-deadline' }
  if (order.is === 'neverPlaced') return { refused: 'not-placed' }
  const since = actions.filter(({ recordAt }) => recordAt >= entry.placedAt)
  if (isOutdated(entry, since, order.earlier)) return { refused: 'corporate-action' }
  const last = order.earlier.at(-1)
  if (terms.limit?.timeInForce === 'DAY' && last && !isOfSession(last.createdAt, market.clock)) {
    return { refused: 'expired-at-close' }
  }
  if (!market.clock.isOpen) return { isClosed: true }
  const { symbol, amount, orderId, limit } = terms
  const clientOrderId = clientOrderIdOf(orderId, order.earlier.length)
  const common = { symbol, clientOrderId, limitPrice: limit?.price }
  const rest = last && restOf(entry, { order: last, earlier: order.earlier.slice(0, -1) })
  if (terms.side === 'BUY') {
    const place = { ...common, side: 'buy', notional: rest ?? notionalAtBroker(amount) } as const
    return judgeAsset(market) ?? { order, place }
  }
  const available = min(entry.locked, freeShares(without, symbol))
  if (rest !== undefined) return { order, place: { ...common, side: 'sell', qty: min(rest, available) } }
  const sale = judgeSale(terms, market, { available, whole: available, least: 0n })
  return 'qty' in sale ? { order, place: { ...common, side: 'sell', qty: sale.qty } } : sale
}

/** Whether a nonce lies more than a day beyond a time in Unix milliseconds. */
export function hasLeapt(nonce: number, beyondMs: number): boolean {
  return nonce > beyondMs + MAX_NONCE_LEAP_MS
}

function refusedByIntent(
  { deadline, limit }: OrderTerms,
  { nonce, expiry }: Asked['intent'],
  portfolio: Portfolio | null,
  facts: readonly ChainFacts[],
): NoticeCode | null {
  // 0 for an account without a portfolio.
  const stored = portfolio?.nonce ?? 0
  if (nonce <= stored) return 'nonce-not-fresh'
  if (facts.some(({ blockTime }) => hasLeapt(nonce, Math.max(stored, blockTime * 1_000)))) {
    return 'nonce-too-far-ahead'
  }
  if (limit && !isOnIncrement(limit.price)) return 'limit-price-increment'
  return expiry === deadline ? null : 'deadline-mismatch'
}

/** Why the chain, the rulebook or the portfolio forbid an order; null when they do not. */
function refusedByChain(
  terms: OrderTerms,
  facts: readonly ChainFacts[],
  portfolio: Portfolio | null,
  limits: Limits,
): NoticeCode | null {
  const refusals = facts.map((each) => refusedByFacts(terms, each, portfolio, limits))
  return refusals.find((code) => code !== null) ?? null
}

function refusedByFacts(
  terms: OrderTerms,
  facts: ChainFacts,
  portfolio: Portfolio | null,
  limits: Limits,
): NoticeCode | null {
  if (facts.blockTime >= terms.deadline) return 'expired'
  if (!fitsEscrow(terms, facts)) return 'escrow-mismatch'
  if (!facts.kyc) return 'kyc'
  if (terms.symbol !== USDC && facts.frozen) return 'frozen'
  return refusedByRules(terms, facts) ?? refusedByFunds(terms, facts, { portfolio, limits })
}

/** A deposit is its escrow. A buy is paid by its escrow or by cash, and no other order brings USDC or shares. */
function fitsEscrow(
  { side, escrowed, deposited, amount }: OrderTerms,
  { names }: Pick<ChainFacts, 'names'>,
): boolean {
  if (side === 'DEPOSIT') {
    const brought = deposited ?? { symbol: USDC, amount: escrowed }
    return names.includes(brought.symbol) && amount === brought.amount
  }
  if (deposited !== null) return false
  return escrowed === 0n || (side === 'BUY' && escrowed === amount)
}

function refusedByRules(
  terms: OrderTerms,
  { member, admitted, leaving, policy, names }: ChainFacts,
): NoticeCode | null {
  if (terms.side === 'WITHDRAW') {
    const free = terms.symbol === USDC || policy?.allowWithdrawShares === true
    return free ? null : 'withdrawals-not-allowed'
  }
  if (terms.side === 'DEPOSIT' && terms.symbol !== USDC) return null
  // Outside an institution nothing can be bought, and no USDC deposited, but what is held can always be sold.
  const bringsUsdc = terms.side !== 'SELL'
  if (!member) return bringsUsdc ? 'no-institution' : null
  if (bringsUsdc && !admitted) return 'not-admitted'
  if (bringsUsdc && leaving) return 'leaving'
  // Rulebooks are about trades.
  if (terms.side === 'DEPOSIT') return null
  const rules = policy && memberRules(policy, terms.account)
  if (!rules) return 'not-permitted'
  if (!(terms.side === 'BUY' ? rules.canBuy : rules.canSell)) return 'not-permitted'
  if (rules.restricted.some((name) => names.includes(name))) return 'restricted-symbol'
  return terms.amount > policy.maxOrderNotional ? 'over-limit' : null
}

function refusedByFunds(
  { side, symbol, amount, escrowed }: OrderTerms,
  { listed, removed }: ChainFacts,
  { portfolio, limits }: { portfolio: Portfolio | null; limits: Limits },
): NoticeCode | null {
  const cash = portfolio ? freeCash(portfolio) : 0n
  const shares = portfolio ? freeShares(portfolio, symbol) : 0n
  if (side === 'WITHDRAW') {
    if (amount === 0n) return 'below-minimum'
    if (symbol !== USDC) return amount > shares ? 'insufficient-shares' : null
    if (amount > cash) return 'insufficient-cash'
    return amount < limits.withdrawal && amount !== portfolio?.cash ? 'below-minimum' : null
  }
  if (side === 'DEPOSIT') {
    if (symbol === USDC) return amount === 0n || amount < limits.withdrawal ? 'below-minimum' : null
    if (removed) return 'shares-removed'
    // Ratios may have rounded all of it away.
    if (amount === 0n) return 'below-minimum'
    return null
  }
  if (!meetsBrokerMinimum(amount)) return 'below-minimum'
  const isAllCash = escrowed === 0n && amount === portfolio?.cash
  if (side === 'BUY' && amount < limits.order && !isAllCash) return 'below-minimum'
  if (side === 'SELL') return shares === 0n ? 'insufficient-shares' : null
  if (!listed) return 'not-listed'
  return escrowed === 0n && amount > cash ? 'insufficient-cash' : null
}

/** Whether the portfolio still fits into its blobs with this order, and with what may come before its end. */
function hasRoomFor(terms: OrderTerms, portfolio: Portfolio | null): boolean {
  if (portfolio === null) return true
  const { orderId, side, symbol, amount } = terms
  if (side === 'WITHDRAW') return fits(portfolio)
  if (side === 'DEPOSIT') return hasRoom(withDeposit(portfolio, symbol, amount), { spareSale: true })
  const lock = side === 'SELL' ? freeShares(portfolio, symbol) : 0n
  const entry = newEntry(terms, lock, terms.deadline)
  return hasRoom(withOrder(portfolio, orderId, entry), { spareSale: side === 'BUY' })
}

/** A withdrawal or a deposit. One of cash, and the withdrawal of a whole position, needs no price. */
function judgeMove(
  { symbol, amount }: OrderTerms,
  whole: bigint,
  { withdrawal }: Limits,
  { price }: Market,
): Refused | Needs | { lock: bigint } {
  if (symbol === USDC || amount === whole) return { lock: 0n }
  if (price === undefined) return { needs: 'price' }
  return worthOf(amount, price) < withdrawal ? { refused: 'below-minimum' } : { lock: 0n }
}

/** Whether the market opens only when the order has expired. */
function isClosedUntil(deadline: number, clock: BrokerClock): boolean {
  return !clock.isOpen && clock.nextOpen.getTime() >= deadline * 1_000
}

/** Whether a moment lies in the session that is under way. */
function isOfSession(moment: Date, { isOpen, nextClose }: BrokerClock): boolean {
  return isOpen && moment.getTime() >= nextClose.getTime() - SESSION_S * 1_000
}

/** Null when the broker takes a buy of this symbol. */
function judgeAsset({ asset }: Market): Refused | Needs | null {
  if (asset === undefined) return { needs: 'asset' }
  return isBuyable(asset) ? null : { refused: 'not-tradable' }
}

/**
 * @param size.available share base units that the sale may lock
 * @param size.whole share base units of the whole position, whose sale the least amount does not bind
 * @param size.least USDC base units that a sale is worth at the least
 */
function judgeSale(
  { amount, limit }: OrderTerms,
  { price }: Market,
  { available, whole, least }: { available: bigint; whole: bigint; least: bigint },
): Refused | Needs | { qty: bigint } {
  if (price === undefined) return { needs: 'price' }
  // A limit above the market is what the shares bring; one below it would sell more of them than the amount is worth.
  const sizedAt = limit && limit.price > price ? limit.price : price
  const { qty, value, isShort, isTradable } = sizeSale(amount, sizedAt, available)
  if (!isTradable) return { refused: isShort ? 'insufficient-shares' : 'below-minimum' }
  return value < least && qty !== whole ? { refused: 'below-minimum' } : { qty }
}
