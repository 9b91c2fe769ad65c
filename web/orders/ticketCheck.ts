import type {
  ComplianceView,
  Funds,
  MarketClock,
  MarketView,
  Portfolio,
  WalletShares,
  WalletView,
} from '../../src/client/index.js'
import { freeCash, freeShares } from '../../src/protocol/portfolio.js'
import {
  formatDecimal,
  notionalOf,
  SHARE_DECIMALS,
  sharesFor,
  toCents,
  USDC_DECIMALS,
} from '../../src/protocol/units.js'
import { money, shares } from '../words/format.js'
import {
  amountOf,
  HOUR_SECONDS,
  isDepositOfShares,
  isMove,
  isPaidByWallet,
  LEAST,
  limitOf,
  type Ticket,
  type TicketDraft,
  unitOf,
} from './ticketOrder.js'

/** Everything that the page knows about whether an order can go through; null where it does not know yet. */
export interface TicketFacts {
  readonly market: Pick<MarketView, 'symbols'>
  /** Whether the server does not answer. */
  readonly isAway: boolean
  readonly clock: MarketClock | null
  readonly funds: Pick<Funds, 'balance'> | null
  /** The shares that the wallet itself holds. */
  readonly walletShares: readonly Pick<WalletShares, 'symbol' | 'balance'>[] | null
  readonly portfolio: Pick<Portfolio, 'cash' | 'openOrders' | 'positions'> | null
  readonly compliance: Pick<ComplianceView, 'equities'> | null
  readonly view: Pick<WalletView, 'leavingAt' | 'orgId'> | null
  /** Unix milliseconds. */
  readonly now: number
}

type TicketField = 'symbol' | 'amount' | 'hours' | 'limit'

/** Why the ticket cannot be sent. */
export interface Fault {
  readonly kind: 'fault'
  /** The field to change; null if changing none would help. */
  readonly field: TicketField | null
  /** In a few words, for the button. */
  readonly brief: string
  readonly says: string
}

/** An order that can be sent, as far as the page knows. */
export interface Ready {
  readonly kind: 'ready'
  /** The order's amount: USDC base units, or share base units for a withdrawal or a deposit of shares. */
  readonly units: bigint
  /** Share base units at the current price; null without a price, and for an order that moves cash. */
  readonly shares: bigint | null
  /** The price that sizes the order: its limit, or the market's. */
  readonly price: bigint | null
  /** USD with 6 decimals; null at the market's price. */
  readonly limit: bigint | null
  /** Whether a sale takes all free shares. */
  readonly isAll: boolean
}

export type Checked = Fault | Ready | { readonly kind: 'empty' }

const PERCENT = 100n
/**
 * An order states no number of shares, so a sale of all is sent with more than they are worth: none stays behind when the price
 * rises before the order is placed, and the enclave sells no more than there are. The price may move further until a
 * market opens that is closed, or may be. A typed amount of up to three percent more counts as all of them.
 */
const ALL_PERCENT = { open: 101n, closed: 110n }
const MOST_PERCENT = 103n

export function checkTicket(ticket: Ticket, facts: TicketFacts): Checked {
  const blocked = blockedBy(ticket, facts)
  if (blocked !== null) return blocked
  const limit = limitOf(ticket)
  if (typeof limit === 'string') return faultOf('limit', 'Check the limit price', limit)
  const amount = amountOf(ticket)
  if (amount === null || (isLimited(ticket) && limit === null)) return { kind: 'empty' }
  if (typeof amount === 'string') return faultOf('amount', 'Check the amount', amount)
  return sized(ticket, facts, amount)
}

function isLimited({ side, priced }: Ticket): boolean {
  return !isMove(side) && priced === 'limit'
}

/** The price that sizes an order: as in the enclave, a buy's limit, and the higher of a sale's limit and the market. */
function sizingPrice(ticket: Ticket, { market }: TicketFacts): bigint | null {
  const limit = limitOf(ticket)
  const now = priceOf(market, ticket.symbol)
  if (typeof limit !== 'bigint') return now
  return ticket.side === 'SELL' && now !== null && now > limit ? now : limit
}

/** The amount that may be ordered, in the ticket's unit; null while it is unknown. */
export function availableUnits(ticket: Ticket, facts: TicketFacts): bigint | null {
  const { side, symbol } = ticket
  if (isDepositOfShares(ticket)) return facts.walletShares && balanceOf(facts.walletShares, symbol)
  const price = sizingPrice(ticket, facts)
  const held = facts.portfolio && freeShares(facts.portfolio, symbol)
  if (side === 'SELL' || (side === 'WITHDRAW' && symbol !== 'USDC')) {
    if (unitOf(ticket) === 'shares' || held === null || held === 0n) return held
    return price === null ? null : notionalOf(held, price, 'down')
  }
  const cash = facts.portfolio && freeCash(facts.portfolio)
  const usdc = isPaidByWallet(ticket) ? (facts.funds?.balance ?? null) : cash
  if (usdc === null || unitOf(ticket) === 'usdc') return usdc
  return price === null || price === 0n ? null : sharesFor(usdc, price)
}

/** The wallet's own shares of a symbol, in base units. */
export function balanceOf(held: NonNullable<TicketFacts['walletShares']>, symbol: string): bigint {
  return held.find((one) => one.symbol === symbol)?.balance ?? 0n
}

/** A part of the available amount; a part of USDC is in whole cents. */
export function partOf(ticket: Ticket, available: bigint, percent: bigint): bigint {
  const part = (available * percent) / PERCENT
  return unitOf(ticket) === 'usdc' && percent < PERCENT ? toCents(part, 'down') : part
}

/**
 * The change of the ticket by the button of a part; null while the part is unknown. All of a holding is sold by its shares,
 * and all USDC is spent by its amount, so that it stays all of it when the price moves.
 */
export function withPart(ticket: Ticket, facts: TicketFacts, percent: bigint): Partial<TicketDraft> | null {
  const isAll = percent === PERCENT && !isMove(ticket.side)
  const asked: Ticket = isAll ? { ...ticket, unit: ticket.side === 'SELL' ? 'shares' : 'usdc' } : ticket
  const available = availableUnits(asked, facts)
  if (available === null || available === 0n) return null
  const decimals = unitOf(asked) === 'usdc' ? USDC_DECIMALS : SHARE_DECIMALS
  return { unit: asked.unit, amount: formatDecimal(partOf(asked, available, percent), decimals) }
}

/** A reason that no amount changes. */
function blockedBy(ticket: Ticket, facts: TicketFacts): Fault | null {
  const { side, symbol, hours } = ticket
  const { clock, now } = facts
  if (facts.isAway) {
    return faultOf(
      null,
      'Waiting for the server…',
      'The server does not answer. You can order once it is back.',
    )
  }
  const bringsUsdc = side === 'BUY' || (side === 'DEPOSIT' && symbol === 'USDC')
  if (bringsUsdc && facts.view !== null && facts.view.leavingAt !== null) {
    const says =
      'This wallet is leaving its institution. It can sell, withdraw and deposit shares, but not buy or deposit USDC.'
    return faultOf(
      null,
      side === 'BUY' ? 'You cannot buy while leaving' : 'You cannot deposit while leaving',
      says,
    )
  }
  if (bringsUsdc && facts.view?.orgId === null) {
    const says =
      'This wallet is in no institution. It can sell, withdraw and deposit shares, and buy once it has joined one.'
    return faultOf(null, side === 'BUY' ? 'Join an institution to buy' : 'Join one to deposit', says)
  }
  const equity = facts.compliance?.equities.find((one) => one.symbol === symbol)
  if (equity?.frozen) {
    return faultOf('symbol', `Your ${symbol} is frozen`, `The operator has frozen this wallet’s ${symbol}.`)
  }
  if (side === 'BUY' && equity !== undefined && !equity.listed) {
    return faultOf('symbol', `${symbol} is not listed`, `${symbol} is no longer listed on this platform.`)
  }
  const opensAt = clock === null || clock.isOpen || isMove(side) ? null : Date.parse(clock.nextOpen)
  if (opensAt !== null && opensAt >= now + hours * HOUR_SECONDS * 1_000) {
    const says = 'This order would expire before the market opens. Choose a longer time.'
    return faultOf('hours', 'Expires before the market opens', says)
  }
  return null
}

function sized(ticket: Ticket, facts: TicketFacts, amount: bigint): Fault | Ready {
  const { side, symbol } = ticket
  const price = sizingPrice(ticket, facts)
  const typed = limitOf(ticket)
  const limit = typeof typed === 'bigint' ? typed : null
  const available = availableUnits(ticket, facts)
  const inShares = unitOf(ticket) === 'shares'
  if (isMove(side)) {
    if (available !== null && amount > available) return tooMuch(ticket, available)
    return { kind: 'ready', units: amount, shares: inShares ? amount : null, price, limit, isAll: false }
  }
  if (inShares && price === null) {
    return faultOf('amount', 'No price now', `${symbol} has no price now. Enter an amount in USDC.`)
  }
  const units = inShares && price !== null ? notionalOf(amount, price, 'up') : amount
  if (units < LEAST) return faultOf('amount', 'Too small', 'An order must be worth at least 1 USDC.')
  const quantity = inShares ? amount : price === null || price === 0n ? null : sharesFor(units, price)
  if (side === 'SELL' && facts.portfolio !== null && available !== null) {
    const held = freeShares(facts.portfolio, symbol)
    const isOpen = facts.clock?.isOpen ?? false
    return sale({ ticket, amount, available, price, limit, units, quantity, held, isOpen })
  }
  if (available !== null && amount > available) return tooMuch(ticket, available)
  return { kind: 'ready', units, shares: quantity, price, limit, isAll: false }
}

interface Sale {
  readonly ticket: Ticket
  readonly amount: bigint
  readonly available: bigint
  readonly price: bigint | null
  readonly limit: bigint | null
  readonly units: bigint
  readonly quantity: bigint | null
  /** The free shares. */
  readonly held: bigint
  /** Whether the market is known to be open. */
  readonly isOpen: boolean
}

function sale(of: Sale): Fault | Ready {
  const { ticket, amount, available, price, limit, units, quantity, held, isOpen } = of
  const most = unitOf(ticket) === 'shares' ? available : (available * MOST_PERCENT) / PERCENT
  if (available === 0n || price === null || amount > most) return tooMuch(ticket, available)
  if (amount < available) return { kind: 'ready', units, shares: quantity, price, limit, isAll: false }
  // A rulebook limits the amount that is sent, and not what the shares are worth: a typed one is raised least.
  const percent = ALL_PERCENT[isOpen || unitOf(ticket) !== 'shares' ? 'open' : 'closed']
  const all = (notionalOf(held, price, 'up') * percent) / PERCENT
  return { kind: 'ready', units: all > units ? all : units, shares: held, price, limit, isAll: true }
}

function tooMuch(ticket: Ticket, available: bigint): Fault {
  const { side, symbol } = ticket
  const inShares = unitOf(ticket) === 'shares'
  if (side === 'BUY' || symbol === 'USDC') {
    const place = isPaidByWallet(ticket) ? 'in the wallet' : 'available in the portfolio'
    const says = inShares
      ? `The USDC ${place} is enough for ${shares(available)} shares.`
      : `You have ${money(available)} USDC ${place}.`
    return faultOf('amount', 'Not enough USDC', says)
  }
  const isInWallet = isDepositOfShares(ticket)
  if (available === 0n) {
    const says = isInWallet ? `This wallet holds no ${symbol}.` : `You have no ${symbol} available.`
    return faultOf('symbol', `No ${symbol} to ${side.toLowerCase()}`, says)
  }
  const says = inShares
    ? `You have ${shares(available)} ${symbol} ${isInWallet ? 'in the wallet' : 'available'}.`
    : `Your available ${symbol} is worth ${money(available)} USDC.`
  return faultOf('amount', `Not enough ${symbol}`, says)
}

function faultOf(field: TicketField | null, brief: string, says: string): Fault {
  return { kind: 'fault', field, brief, says }
}

export function priceOf({ symbols }: Pick<MarketView, 'symbols'>, symbol: string): bigint | null {
  return symbols.find((equity) => equity.symbol === symbol)?.price ?? null
}

/** The amount available for an order, as the enclave counts it: without the amounts reserved by open orders. */
export function available(
  { side, symbol, payFrom }: Pick<Ticket, 'side' | 'symbol' | 'payFrom'>,
  { funds, portfolio, walletShares }: Pick<TicketFacts, 'funds' | 'portfolio' | 'walletShares'>,
): string {
  if (isPaidByWallet({ side, symbol, payFrom })) {
    return funds === null ? '' : `${money(funds.balance)} USDC in the wallet.`
  }
  if (isDepositOfShares({ side, symbol })) {
    return walletShares === null ? '' : `${shares(balanceOf(walletShares, symbol))} ${symbol} in the wallet.`
  }
  if (portfolio === null) return 'Open your portfolio to see how much is available.'
  if (symbol === 'USDC' || side === 'BUY')
    return `${money(freeCash(portfolio))} USDC available in the portfolio.`
  return `${shares(freeShares(portfolio, symbol))} ${symbol} available in the portfolio.`
}
