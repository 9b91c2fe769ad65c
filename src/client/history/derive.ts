// Derives the history of an account from its portfolio's versions: docs/protocol.md, "Deriving the history". Pure.
import * as z from 'zod/mini'
import type { PortfolioWrite, SignedMove, SignedWrite } from '../../chain/calledAuthorization.js'
import { type CorporateAction, paidForAt } from '../../protocol/corporateActions.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { portfolioHashAfter } from '../../protocol/ledgerBlob.js'
import { type OpenOrder, type Portfolio, portfolioSchema } from '../../protocol/portfolio.js'
import { divide, ONE_SHARE, uint64Schema } from '../../protocol/units.js'
import {
  type Balance,
  balanceSchema,
  type Deposit,
  type EntryBody,
  effectOf,
  minus,
  NO_BALANCE,
  plus,
} from './entries.js'

/** The state of the portfolio, as far as the events up to one point show it. */
export const knownSchema = z.strictObject({
  /** The last version; 0 before the first. */
  version: uint64Schema,
  /** The ledger's running hash after it; null if it is unknown. */
  hash: z.nullable(bytes32Schema),
  /** Whether portfolio and balance are those of `version`, and not of an earlier one. */
  isCurrent: z.boolean(),
  /** The last version that opened; 0 for none. */
  readVersion: uint64Schema,
  /** That version as it was written; null for none. */
  stored: z.nullable(portfolioSchema),
  /** The number of corporate actions that have entered the list. */
  actions: z.int().check(z.minimum(0)),
  /** The stored version after these actions. */
  portfolio: z.nullable(portfolioSchema),
  /** That of `portfolio`, with the public effects since. */
  balance: balanceSchema,
})
export type Known = z.output<typeof knownSchema>

/** An account before its first write. */
export const NOTHING_WRITTEN: Known = {
  version: 0n,
  hash: ZERO_BYTES32,
  isCurrent: true,
  readVersion: 0n,
  stored: null,
  actions: 0,
  portfolio: null,
  balance: NO_BALANCE,
}

/** The state before a write whose predecessors are unknown. */
export function unknownBefore(version: bigint): Known {
  return { ...NOTHING_WRITTEN, version: version - 1n, hash: null, isCurrent: version === 1n }
}

type UnreadableReason = Extract<EntryBody, { kind: 'unreadable' }>['reason']

/** One version of the portfolio, as its transaction has it. */
export interface Write {
  readonly version: bigint
  /** Null if it was not found in the calldata. */
  readonly call: Omit<PortfolioWrite, 'isDirect'> | null
  /** The portfolio as it was written, or why there is none. */
  readonly opened: Portfolio | Exclude<UnreadableReason, 'unknown-predecessor'>
}

export interface Step {
  readonly known: Known
  readonly bodies: readonly EntryBody[]
}

/**
 * The state after a version, and the entries that it makes.
 * @param carried the opened portfolio after the corporate actions of `known`: it may have been computed before the last of them
 */
export function afterWrite(known: Known, write: Write, carried?: Portfolio): Step {
  const { call, opened: stored, version } = write
  if (call === null || typeof stored === 'string') return afterUnreadable(known, write)
  const opened = carried ?? stored
  const balance = balanceOf(opened)
  const change = minus(balance, known.balance)
  const read = { version, readVersion: version, isCurrent: true, stored, portfolio: opened }
  return {
    known: { ...read, actions: known.actions, hash: hashAfter(call), balance },
    bodies: bodiesOf(known, { signed: call.signed, opened, version, change }),
  }
}

/** The state after more corporate actions. @param carried the stored version after all of them */
export function afterActions(known: Known, actions: number, carried: Portfolio | null): Known {
  if (carried === null || known.portfolio === null) return { ...known, actions }
  const change = minus(balanceOf(carried), balanceOf(known.portfolio))
  return { ...known, actions, portfolio: carried, balance: plus(known.balance, change) }
}

/**
 * The entry of an action that the account feels.
 * @param listed the list up to the action
 * @param isUncounted whether its claims are unknown
 */
export function actionEntry(
  [before, after]: readonly [Known, Known],
  action: CorporateAction,
  listed: readonly CorporateAction[],
  isUncounted: boolean,
): EntryBody[] {
  const change = minus(after.balance, before.balance)
  const body = { kind: 'carried' as const, orderId: null, action, ...change, paidFor: null }
  if (action.kind === 'ENTITLEMENT' || action.kind === 'PAYMENT') {
    const [holder, claim] = action.kind === 'PAYMENT' ? [before, listed[action.entitlement]] : [after, action]
    if (claim === undefined) return []
    const entitled = isUncounted ? null : holder.portfolio?.entitlements?.[claim.index]
    return entitled === undefined ? [] : [{ ...body, entitled, paidFor: paidForAt(claim.recordAt) }]
  }
  return Object.keys(change.shares).length === 0 ? [] : [body]
}

interface OpenedWrite {
  readonly signed: SignedWrite | SignedMove
  readonly opened: Portfolio
  readonly version: bigint
  readonly change: Balance
}

function bodiesOf(known: Known, { signed, opened, version, change }: OpenedWrite): readonly EntryBody[] {
  if (signed.primaryType === 'PortfolioMove') {
    const { from, to } = signed.message
    return [{ kind: 'moved', orderId: null, version, from, to, ...change }]
  }
  const { orderId } = signed.message
  const explained = [
    ...keyChange(known, opened, { orderId, version }),
    ...changeOf(known, signed, opened, change),
  ]
  const rest = minus(change, effectsOf(explained))
  if (rest.cash === 0n && Object.keys(rest.shares).length === 0) return explained
  return [...explained, { kind: 'adjusted', orderId, version, sinceVersion: known.readVersion, ...rest }]
}

function hashAfter(call: Omit<PortfolioWrite, 'isDirect'>): Hex {
  return portfolioHashAfter(call.previous, call)
}

/** A payout is public, so its effect is known without the portfolio. */
function afterUnreadable(known: Known, { version, call, opened }: Write): Step {
  const ofOrder = call === null || call.signed.primaryType === 'PortfolioMove' ? null : call.signed
  const unreadable: EntryBody = {
    kind: 'unreadable',
    orderId: ofOrder?.message.orderId ?? null,
    version,
    reason: typeof opened === 'string' ? opened : 'not-in-calldata',
    action: ofOrder && ACTIONS[ofOrder.primaryType],
  }
  const paid = ofOrder === null ? [] : payoutOf(ofOrder)
  const balance = plus(known.balance, effectsOf(paid))
  const hash = call && hashAfter(call)
  return { known: { ...known, version, hash, isCurrent: false, balance }, bodies: [unreadable, ...paid] }
}

const ACTIONS = { PortfolioUpdate: 'updated', OrderSettlement: 'settled', OrderRefund: 'refunded' } as const

function keyChange(
  { portfolio }: Known,
  { userPubKey: to }: Portfolio,
  at: { orderId: Hex; version: bigint },
): EntryBody[] {
  const from = portfolio?.userPubKey
  return from === undefined || from === to ? [] : [{ kind: 'key-changed', ...at, from, to }]
}

/** The entries for the change of the authorization's order. */
function changeOf(known: Known, authorization: SignedWrite, after: Portfolio, change: Balance): EntryBody[] {
  const { primaryType, message } = authorization
  const { orderId, version } = message
  const paid = payoutOf(authorization)
  if (paid.length > 0) return paid
  const [before, now] = [known.portfolio?.openOrders[orderId], after.openOrders[orderId]]
  if (now !== undefined) return before === undefined ? [acceptance(orderId, version, now)] : []
  if (!known.isCurrent) {
    const reason = 'unknown-predecessor'
    return [{ kind: 'unreadable', orderId, version, reason, action: ACTIONS[primaryType] }]
  }
  if (before !== undefined) return fillOf(before, authorization, change)
  return primaryType === 'OrderSettlement' ? depositsOf({ orderId, version }, change) : []
}

function acceptance(orderId: Hex, version: bigint, order: OpenOrder): EntryBody {
  const { side, symbol, notional: usdc, escrow: escrowed, locked, limit } = order
  const terms = { side, symbol, usdc, escrowed, locked, ...(limit && { limit }) }
  return { kind: 'accepted', orderId, version, ...terms }
}

/** The fill of an order that left the portfolio; none for a refund, or for a reclaimed order without an effect. */
function fillOf(
  { side, symbol, notional: usdc }: OpenOrder,
  { primaryType, message }: SignedWrite,
  change: Balance,
): EntryBody[] {
  const { orderId, version } = message
  const isSettled = primaryType === 'OrderSettlement'
  const order = { orderId, version, symbol, usdc }
  const moved = change.shares[symbol] ?? 0n
  if (side === 'BUY') {
    const escrowed = isSettled ? message.amount : 0n
    const [shares, cost] = [atLeastZero(moved), atLeastZero(escrowed - change.cash)]
    if (!isSettled && shares === 0n) return []
    return [{ kind: 'bought', ...order, shares, cost, price: priceOf(cost, shares), escrowed }]
  }
  const [shares, proceeds] = [atLeastZero(-moved), atLeastZero(change.cash)]
  if (side !== 'SELL' || (!isSettled && shares === 0n)) return []
  return [{ kind: 'sold', ...order, shares, proceeds, price: priceOf(proceeds, shares) }]
}

/** A settlement of an order that the portfolio never held, which only adds. */
function depositsOf(at: { orderId: Hex; version: bigint }, { cash, shares }: Balance): EntryBody[] {
  const entries = Object.entries(shares)
  if (cash < 0n || entries.some(([, moved]) => moved < 0n)) return []
  return [
    ...(cash > 0n ? [{ kind: 'cash-deposited' as const, ...at, usdc: cash }] : []),
    ...entries.map(([symbol, moved]) => ({
      kind: 'shares-deposited' as const,
      ...at,
      symbol,
      shares: moved,
    })),
  ]
}

function payoutOf({ primaryType, message }: SignedWrite): EntryBody[] {
  if (primaryType !== 'OrderSettlement' || message.payout === 0n) return []
  const { orderId, version, payout } = message
  const symbol = bytes32ToName(message.payoutAsset)
  if (symbol === null) return []
  return symbol === 'USDC'
    ? [{ kind: 'cash-withdrawn', orderId, version, usdc: payout }]
    : [{ kind: 'shares-withdrawn', orderId, version, symbol, shares: payout }]
}

/** The end of an escrow, as its event and the order tell. */
export interface Ending {
  readonly kind: 'refunded' | 'reclaimed'
  readonly orderId: Hex
  readonly returned: bigint
  /** Absent unless the order is a deposit of shares. */
  readonly deposit?: Deposit | undefined
}

/** The end of an escrow without a settlement, with the order's terms where the portfolio has them. */
export function endWithoutFill(
  { portfolio }: Known,
  { kind, orderId, returned, deposit }: Ending,
): EntryBody {
  const order = portfolio?.openOrders[orderId]
  const terms = { side: order?.side ?? null, symbol: order?.symbol ?? null, usdc: order?.notional ?? null }
  return { kind, orderId, ...terms, returned, ...(deposit && { deposit }) }
}

function balanceOf({ cash, positions }: Portfolio): Balance {
  const shares = Object.entries(positions).map(([symbol, { qty }]) => [symbol, qty] as const)
  return { cash, shares: Object.fromEntries(shares) }
}

function effectsOf(bodies: readonly EntryBody[]): Balance {
  return bodies.map(effectOf).reduce(plus, NO_BALANCE)
}

function priceOf(value: bigint, shares: bigint): bigint | null {
  return shares === 0n ? null : divide(value * ONE_SHARE, shares, 'down')
}

function atLeastZero(value: bigint): bigint {
  return value > 0n ? value : 0n
}
