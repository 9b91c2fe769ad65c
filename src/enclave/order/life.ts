// An order's life as a run sees it. In memory alone: the stored portfolio keeps its format, which only this file translates.
import type { BrokerOrder, Placement } from '../../broker/index.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { type CorporateAction, successorOf } from '../../protocol/corporateActions.js'
import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { bytes32ToName, nameToBytes32 } from '../../protocol/identifiers.js'
import { type Intent, limitOf } from '../../protocol/intent.js'
import type { Limit, Side } from '../../protocol/orderTerms.js'
import type { OpenOrder, Portfolio } from '../../protocol/portfolio.js'
import { scaled } from '../../protocol/ratio.js'
import { USDC } from '../money.js'
import type { StoredPortfolio } from '../stores.js'
import type { Placed } from './placements.js'

/** The wish of an account: from its intent, or from its portfolio once the order is written ahead. */
export interface OrderTerms {
  orderId: Hex
  account: Hex
  side: Side
  symbol: string
  /** USDC base units; share base units in a withdrawal of shares. */
  amount: bigint
  /** USDC base units in the escrow. */
  escrowed: bigint
  /** The shares in the escrow, in base units; null for every order but a deposit of shares. */
  deposited: { symbol: string; amount: bigint } | null
  /** Absent for an order at the market's price. */
  limit?: Limit | undefined
  /** Unix seconds; the escrow's. */
  deadline: number
  /** The escrow's: the sealed intent that the order was opened for. */
  commit: Hex
}

/** The part of an order's terms that the escrow knows. */
export type BoundTerms = Pick<OrderTerms, 'orderId' | 'account' | 'escrowed' | 'deposited' | 'commit'>

/** A portfolio as it is on chain; the next write has `version + 1`, and `hash` as its predecessor's. */
export interface AccountState extends StoredPortfolio {
  account: Hex
  portfolio: Portfolio
}

/** Not in the portfolio: nothing was written for it, unless a reorganization took that back. */
export interface New {
  is: 'new'
  orderId: Hex
  escrow: EscrowedOrder
  stored: StoredPortfolio
}

interface InPortfolio {
  state: AccountState
  terms: OrderTerms
  entry: OpenOrder
}

interface NotStanding extends InPortfolio {
  /** A limit order's placements so far, the oldest first. All have ended. */
  earlier: readonly BrokerOrder[]
}

/** Written ahead, on its way to the broker: for the first time, or again, as the renewal of a limit order. */
export interface WrittenAhead extends NotStanding {
  is: 'writtenAhead'
  /** The turn at the broker that this run has kept for the first send; it may have lapsed. */
  placement?: Placement | undefined
}

/**
 * Written ahead, and then marked: no run may send it from here on, nor renew it. The mark is on chain before the refund is signed, so no later
 * run can place the order while that refund is pending.
 */
export interface NeverPlaced extends NotStanding {
  is: 'neverPlaced'
}

/** At the broker: `live` while it may still be filled, `ended` once the broker has closed it, filled or not. */
export interface Live extends InPortfolio, Placed {
  is: 'live'
}
export interface Ended extends InPortfolio, Placed {
  is: 'ended'
}

/** In `brokerOrderId` of a stored order; the field is empty before. */
const NEVER_PLACED = 'never-placed'

/** An order of the portfolio, as its stored entry says. */
export function decodeEntry(
  { state, terms, entry }: InPortfolio,
  earlier: readonly BrokerOrder[] = [],
): WrittenAhead | NeverPlaced {
  if (entry.brokerOrderId === NEVER_PLACED) return { is: 'neverPlaced', state, terms, entry, earlier }
  return { is: 'writtenAhead', state, terms, entry, earlier }
}

/**
 * The entry of an order that is about to be written ahead.
 * @param locked share base units
 * @param placedAt Unix seconds
 */
export function newEntry(
  { side, symbol, amount, escrowed, limit }: OrderTerms,
  locked: bigint,
  placedAt: number,
): OpenOrder {
  const entry = { side, symbol, notional: amount, escrow: escrowed, locked, brokerOrderId: '', placedAt }
  return limit === undefined ? entry : { ...entry, limit }
}

/** The entry of an order that no run may send any more. */
export function markedEntry(entry: OpenOrder): OpenOrder {
  return { ...entry, brokerOrderId: NEVER_PLACED }
}

/** An order that was found at the broker, or has just been placed. */
export function fromBroker({ state, terms, entry }: InPortfolio, { order, earlier }: Placed): Live | Ended {
  return { is: order.state === 'live' ? 'live' : 'ended', state, terms, entry, order, earlier }
}

/** Whether the order has a placement at the broker that decides: it is live, or none follows it. */
export function isStanding(order: WrittenAhead | NeverPlaced | Live | Ended): order is Live | Ended {
  return order.is === 'live' || order.is === 'ended'
}

/** The filled part of a limit order whose placements have ended; null when nothing was filled. */
export function filledOf(order: WrittenAhead | NeverPlaced): Ended | null {
  const last = order.earlier.at(-1)
  if (last === undefined || order.earlier.every(({ filledQty }) => filledQty === 0n)) return null
  const { state, terms, entry, earlier } = order
  return { is: 'ended', state, terms, entry, order: last, earlier: earlier.slice(0, -1) }
}

/** The order as every authorization names it that writes a portfolio for it, and as the escrow must have it then. */
export function boundTo({ orderId, account, escrowed, deposited, commit }: BoundTerms) {
  const { symbol, amount } = deposited ?? { symbol: USDC, amount: escrowed }
  return { orderId, account, asset: amount === 0n ? ZERO_BYTES32 : nameToBytes32(symbol), amount, commit }
}

/**
 * The request of a new intent. The shares of a deposit follow corporate actions in the escrow, while its intent stays as it was signed:
 * where the one has become the other, the deposit is of what the escrow holds today, under its last symbol.
 */
export function termsOfIntent(
  intent: Intent,
  escrow: EscrowedOrder,
  actions: readonly CorporateAction[],
): OrderTerms {
  const { orderId, side, symbol, maxSpend } = intent
  const bound = termsOfEscrow(orderId, escrow)
  const terms = { side, symbol, amount: maxSpend, limit: limitOf(intent), ...bound }
  const { deposited } = bound
  if (side !== 'DEPOSIT' || deposited?.symbol !== symbol) return terms
  const today = successorOf(symbol, actions)
  if (!becomes(maxSpend, deposited.amount, today.ratios)) return terms
  return { ...terms, symbol: today.symbol, amount: deposited.amount }
}

/**
 * Whether shares have become so many by the last of these ratios, however many of them came after the opening. The contract rounds down
 * at each, so no more comes of them than was given.
 */
function becomes(given: bigint, today: bigint, ratios: ReturnType<typeof successorOf>['ratios']): boolean {
  return [...ratios, null].some((_, from) => {
    return ratios.slice(from).reduce(scaled, given) === today
  })
}

/** The request of an order that was written ahead; it needs no envelope any more. */
export function termsOfEntry(orderId: Hex, entry: OpenOrder, escrow: EscrowedOrder): OrderTerms {
  const { side, symbol, notional: amount, limit } = entry
  return { side, symbol, amount, limit, ...termsOfEscrow(orderId, escrow) }
}

/** The escrow's record of an order. */
export function termsOfEscrow(
  orderId: Hex,
  escrow: EscrowedOrder,
): BoundTerms & Pick<OrderTerms, 'deadline'> {
  const { account, amount, deadline, commit, symbol, shares } = escrow
  const name = bytes32ToName(symbol)
  const deposited = name === null ? null : { symbol: name, amount: shares }
  return { orderId, account, escrowed: amount, deposited, deadline, commit }
}
