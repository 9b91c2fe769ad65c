// Which orders are let in. Pure: whatever it needs to know has been read before.
import { type Asset, type BrokerClock, isBuyable } from '../../broker/index.js'
import type { Policy } from '../../protocol/policy.js'
import { freeCash, freeShares, type Portfolio } from '../../protocol/portfolio.js'
import { notionalOf, ONE_SHARE, ONE_USDC, sharesFor, toCents } from '../../protocol/units.js'
import { min } from '../books.js'
import type { NoticeCode } from '../notices.js'
import type { Limits } from '../run.js'
import { type OrderTerms, USDC } from './terms.js'

/** The broker's smallest order. */
const MINIMUM = ONE_USDC
/**
 * Symbols that an account may hold. With the twenty open orders that the escrow allows, and the longest numbers, their
 * portfolio stays below the 20,480 bytes that a blob may have. One that did not fit could never be written again.
 */
export const MAX_POSITIONS = 150

/** What the chain says about an account and a symbol, at one block. */
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
  frozen: boolean
  listed: boolean
}

/**
 * Why the chain, the rulebook or the portfolio forbid an order; null when they do not.
 * @param facts of each block that is looked at: what one of them forbids is forbidden
 */
export function refusedByChain(
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
  if (terms.side === 'BUY' ? !fitsEscrow(terms) : terms.escrowed !== 0n) return 'escrow-mismatch'
  if (!facts.kyc) return 'kyc'
  if (terms.symbol !== USDC && facts.frozen) return 'frozen'
  return refusedByRules(terms, facts) ?? refusedByFunds(terms, facts, { portfolio, limits })
}

function fitsEscrow({ escrowed, amount }: OrderTerms): boolean {
  return escrowed === 0n || escrowed === amount
}

function refusedByRules(
  terms: OrderTerms,
  { member, admitted, leaving, policy }: ChainFacts,
): NoticeCode | null {
  if (terms.side === 'WITHDRAW') {
    const free = terms.symbol === USDC || policy?.allowWithdrawShares === true
    return free ? null : 'withdrawals-not-allowed'
  }
  // Outside an institution nothing can be bought, but what is held can always be sold.
  if (!member) return terms.side === 'BUY' ? 'no-institution' : null
  if (terms.side === 'BUY' && !admitted) return 'not-admitted'
  if (terms.side === 'BUY' && leaving) return 'leaving'
  const rules = policy?.employees[terms.account.toLowerCase()]
  if (!policy || !rules) return 'not-permitted'
  if (!(terms.side === 'BUY' ? rules.canBuy : rules.canSell)) return 'not-permitted'
  if (rules.restricted.includes(terms.symbol)) return 'restricted-symbol'
  return terms.amount > policy.maxOrderNotional ? 'over-limit' : null
}

function refusedByFunds(
  { side, symbol, amount, escrowed }: OrderTerms,
  { listed }: ChainFacts,
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
  if (toCents(amount, 'down') < MINIMUM) return 'below-minimum'
  const isAllCash = escrowed === 0n && amount === portfolio?.cash
  if (side === 'BUY' && amount < limits.order && !isAllCash) return 'below-minimum'
  if (side === 'SELL') return shares === 0n ? 'insufficient-shares' : null
  if (!listed) return 'not-listed'
  if (portfolio && !hasRoomFor(portfolio, symbol)) return 'too-many-positions'
  return escrowed === 0n && amount > cash ? 'insufficient-cash' : null
}

/** Whether a portfolio that holds, or is about to hold, this symbol too still fits into an authorization. */
function hasRoomFor({ positions, openOrders }: Portfolio, symbol: string): boolean {
  const bought = Object.values(openOrders).filter(({ side }) => side === 'BUY')
  const symbols = new Set([...Object.keys(positions), ...bought.map((order) => order.symbol), symbol])
  return symbols.size <= MAX_POSITIONS
}

/** Whether the market opens only when the order has expired. */
export function isClosedUntil(deadline: number, clock: BrokerClock): boolean {
  return !clock.isOpen && clock.nextOpen.getTime() >= deadline * 1_000
}

/** Why the broker would not take a buy. */
export function refusedByAsset(asset: Asset | null): NoticeCode | null {
  return isBuyable(asset) ? null : 'not-tradable'
}

/**
 * How many share base units a sale of `amount` USDC sells at `price`, at most `available`. It is fixed as a
 * quantity: a sale by amount would sell others' shares when the price falls. The broker's minimum does not bind whole shares.
 * @param options.available share base units that are not reserved
 * @param options.whole share base units of the whole position, whose sale the least amount does not bind
 * @param options.least USDC base units that a sale is worth at the least
 */
export function saleOf(
  amount: bigint,
  price: bigint,
  { available, whole, least }: { available: bigint; whole: bigint; least: bigint },
): { qty: bigint; refused: NoticeCode | null } {
  const needed = sharesFor(amount, price)
  const qty = min(needed, available)
  // Rounded up, as rounding the quantity down has cost less than one unit of the amount.
  const value = notionalOf(qty, price, 'up')
  const isTradable = value >= MINIMUM || (qty > 0n && qty % ONE_SHARE === 0n)
  if (!isTradable) return { qty, refused: available < needed ? 'insufficient-shares' : 'below-minimum' }
  return { qty, refused: value < least && qty !== whole ? 'below-minimum' : null }
}

/** Why a withdrawal of shares is refused: it is worth less than the least one, and not the whole position. */
export function refusedByWithdrawal(
  qty: bigint,
  price: bigint,
  whole: bigint,
  { withdrawal }: Limits,
): NoticeCode | null {
  return qty !== whole && notionalOf(qty, price, 'up') < withdrawal ? 'below-minimum' : null
}
