// Invariants of the platform's money. Pure: its inputs have been read before.
import {
  type Activities,
  everBookedOf,
  type FeeActivity,
  fillValue,
  type TradeActivity,
  unborneActions,
} from '../../broker/index.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { sameAddress } from '../../protocol/address.js'
import { formerNamesOf, retiredSymbols } from '../../protocol/corporateActions.js'
import { ceilFee, exactFee, type Fee, type FeeSchedule } from '../../protocol/fees.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName, clientOrderIdOf } from '../../protocol/identifiers.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import { notionalOf, ONE_CENT } from '../../protocol/units.js'
import { costOf } from '../money.js'
import {
  type ActionHistory,
  createReplay,
  type DividendBooks,
  dividendBooks,
  exchangedSymbols,
  type Replay,
} from './actionBooks.js'
import { type BrokerFill, type Payout, sharesIn } from './replay.js'

/** Everything that is compared, read at one block and, at the broker, right after it. */
export interface MoneyState {
  /** Every order that was ever opened, as the escrow has it now. */
  orders: ReadonlyMap<Hex, EscrowedOrder>
  /** Amounts that settlements have paid out, by order: withdrawals alone. */
  payouts: ReadonlyMap<Hex, Payout>
  /** Lost wallets whose portfolios have moved, in whole or in part, by their new wallets. */
  moves: ReadonlyMap<Hex, Hex>
  /** Portfolios by account; null: the blob does not open. An account that never had one is absent. */
  portfolios: ReadonlyMap<Hex, Portfolio | null>
  history: ActionHistory
  /** USDC base units. */
  usdc: {
    pool: bigint
    escrow: bigint
    /** The escrow's counts of its open orders, and of its claims. */
    escrowed: bigint
    claimed: bigint
  }
  /** Share base units by symbol. */
  shares: ReadonlyMap<string, { supply: bigint; pool: bigint; escrow: bigint; claimed: bigint }>
  broker: {
    /** USDC base units, less what the platform has lent: what it holds for the accounts. */
    cash: bigint
    positions: ReadonlyMap<string, bigint>
    /** By `client_order_id`. */
    orders: ReadonlyMap<string, BrokerFill>
    /** Its entries for the account since the first of these orders. */
    activities: Activities
  }
}

/** A rule that does not hold, and for whom; never by how much. */
export interface Disagreement {
  rule: keyof typeof RULES
  account?: Hex
  symbol?: string
  orderId?: Hex
  /** `YYYY-MM-DD`. */
  day?: string
}

/** The rules, as the doctor names them. */
export const RULES = {
  'escrow-counted': 'the escrow counts exactly the USDC of its open orders',
  'escrow-covered': 'the escrow holds the USDC of its open orders and of its claims',
  'claims-covered': 'the escrow holds the shares of its claims and of its open deposits',
  'cash-covered':
    'pool, escrows of buys written ahead and cash at the broker cover the cash in all portfolios',
  'shares-covered': 'the broker holds the shares of all portfolios and of all wallets',
  'cash-as-ordered': "the account's cash is what its orders and withdrawals come to",
  'shares-as-ordered': "the account's shares are what its orders and withdrawals come to",
  'portfolio-readable': 'the portfolio opens',
  'locks-add-up': "a position's lock is the sum of its open orders' locks, and at most its quantity",
  'cash-not-promised-twice': 'open buys from cash are at most the cash',
  'entry-is-open': "an order in the portfolio is the escrow's, and open",
  'refunded-unfilled': 'no order that was given its USDC back was filled',
  'fills-entered': "the fills among the broker's account activities are those of its orders",
  'dividends-booked': 'the broker has booked at least the cash that corporate actions have credited',
  'actions-booked': 'the broker has booked each corporate action that portfolios follow',
  'fees-as-set': 'the broker has charged no more in fees than BROKER_FEES says',
} as const

/**
 * @param fees what sales pay: `BROKER_FEES`
 * @param earlierFees what sales have paid before: `BROKER_FEES_EARLIER`
 * @param tolerance USDC base units that the platform has lost to buys that were reclaimed after their fill
 * @returns every rule that does not hold
 */
export function checkMoney(
  state: MoneyState,
  {
    fees,
    earlierFees = [],
    tolerance = 0n,
  }: { fees: FeeSchedule; earlierFees?: readonly FeeSchedule[]; tolerance?: bigint },
): Disagreement[] {
  const accounts = accountsOf(state, [fees, ...earlierFees])
  return [
    ...checkEscrow(state),
    ...checkCash(state, tolerance + borneByPlatform(state, fees)),
    ...checkShares(state),
    ...checkAccounts(accounts),
    ...[...state.portfolios].flatMap(([account, portfolio]) => checkPortfolio(state, account, portfolio)),
    ...checkRefunds(state),
    ...checkFills(state),
    ...dividendsOf(state, accounts)
      .filter(({ booked, credited }) => credited > booked)
      .map(({ symbol }): Disagreement => ({ rule: 'dividends-booked', symbol })),
    ...checkActions(state),
    ...checkFees(state, fees),
  ]
}

function checkActions({ history, broker }: MoneyState): Disagreement[] {
  const unborne = unborneActions(history.actions, everBookedOf(broker.activities.booked))
  const symbols = new Set(unborne.map(({ symbol }) => symbol))
  return [...symbols].map((symbol) => ({ rule: 'actions-booked', symbol }))
}

/** What dividends have credited, and what was booked for them. Fees are not in it. */
export function dividendsOf(state: MoneyState, accounts = accountsOf(state, [])): DividendBooks[] {
  return dividendBooks(
    state.broker.activities.booked,
    state.history,
    accounts.map(({ replayed }) => replayed),
  )
}

function checkEscrow({ orders, usdc, shares }: MoneyState): Disagreement[] {
  const found: Disagreement[] = []
  const open = [...orders.values()].filter(({ state }) => state === 'OPEN')
  if (sum(open.map(({ amount }) => amount)) !== usdc.escrowed) found.push({ rule: 'escrow-counted' })
  if (usdc.escrow < usdc.escrowed + usdc.claimed) found.push({ rule: 'escrow-covered' })
  for (const [symbol, { escrow, claimed }] of shares) {
    const deposited = open.filter((order) => bytes32ToName(order.symbol) === symbol)
    if (escrow < claimed + sum(deposited.map((order) => order.shares)))
      found.push({ rule: 'claims-covered', symbol })
  }
  return found
}

/**
 * A buy that is filled and not settled has left the broker's cash, and is not in a portfolio yet: out of the escrow its
 * USDC still stands there, from cash what it cost is still counted as cash.
 */
function checkCash(state: MoneyState, tolerance: bigint): Disagreement[] {
  const { usdc, broker } = state
  const entries = entriesIn(state)
  const escrows = sum(entries.filter(({ isOpen }) => isOpen).map(({ entry }) => entry.escrow))
  const spent = entries
    .filter(({ entry }) => entry.side === 'BUY' && entry.escrow === 0n)
    .map(({ fill }) => (fill ? fillValue(fill, 'up') : 0n))
  const owed = sum(portfoliosOf(state).map(({ cash }) => cash))
  const covered = usdc.pool + escrows + broker.cash + sum(spent) + tolerance
  return covered >= owed ? [] : [{ rule: 'cash-covered' }]
}

/** Shares sold and not settled have left the broker, and are still in a portfolio. Claims are outside the pool. */
function checkShares(state: MoneyState): Disagreement[] {
  const entries = entriesIn(state)
  const portfolios = portfoliosOf(state)
  const symbols = new Set([
    ...state.shares.keys(),
    ...portfolios.flatMap((each) => Object.keys(each.positions)),
  ])
  const { actions } = state.history
  const exchanged = exchangedSymbols(state.broker.activities.booked, state.history)
  // The broker holds nothing under a retired symbol: what wallets have under it counts for the last one, or is worthless.
  const retired = new Set(retiredSymbols(actions))
  return [...symbols].flatMap((symbol): Disagreement[] => {
    if (exchanged.has(symbol) || retired.has(symbol)) return []
    const outside = formerNamesOf(symbol, actions).map((name) => {
      const { supply = 0n, pool = 0n } = state.shares.get(name) ?? {}
      return supply - pool
    })
    const positions = sum(portfolios.map((portfolio) => portfolio.positions[symbol]?.qty ?? 0n))
    const sold = entries
      .filter(({ entry }) => entry.side === 'SELL' && entry.symbol === symbol)
      .flatMap(({ fill }) => (fill ? sharesIn(fill, state.history.actions) : []))
      .map(({ qty }) => qty)
    const covered = (state.broker.positions.get(symbol) ?? 0n) + sum(sold)
    return covered >= positions + sum(outside) ? [] : [{ rule: 'shares-covered', symbol }]
  })
}

interface Account {
  readonly account: Hex
  readonly held: readonly Portfolio[]
  readonly replayed: Replay
}

/** Every account whose portfolios open. Wallets that a portfolio has moved between are one account. */
function accountsOf(
  { orders, payouts, moves, portfolios, broker, history }: MoneyState,
  schedules: readonly FeeSchedule[],
): Account[] {
  const firstOf = (account: Hex): Hex => {
    const lost = moves.get(account)
    return lost === undefined ? account : firstOf(lost)
  }
  const own = new Map<Hex, { known: [Hex, EscrowedOrder][]; read: (Portfolio | null)[] }>()
  const of = (account: Hex) => {
    const found = own.get(firstOf(account)) ?? { known: [], read: [] }
    own.set(firstOf(account), found)
    return found
  }
  for (const [account, portfolio] of portfolios) of(account).read.push(portfolio)
  for (const [orderId, order] of orders) {
    if (order.state !== 'NONE') of(order.account).known.push([orderId, order])
  }
  return [...own].flatMap(([account, { known, read }]): Account[] => {
    const held = read.filter((portfolio) => portfolio !== null)
    if (held.length < read.length) return []
    const settled = known.filter(([orderId]) => !held.some(({ openOrders }) => orderId in openOrders))
    const replayed = createReplay(settled, history, { fills: broker.orders, payouts, schedules })
    return [{ account, held, replayed }]
  })
}

/** Account by account: what covers the whole may hide that one has too much and another too little. */
function checkAccounts(accounts: readonly Account[]): Disagreement[] {
  return accounts.flatMap(({ account, held, replayed }): Disagreement[] => {
    const expected = replayed.now()
    const cash = sum(held.map((portfolio) => portfolio.cash))
    const symbols = new Set([
      ...held.flatMap(({ positions }) => Object.keys(positions)),
      ...Object.keys(expected.positions),
    ])
    const wrong = [...symbols].filter((symbol) => {
      const qty = sum(held.map(({ positions }) => positions[symbol]?.qty ?? 0n))
      return qty !== (expected.positions[symbol]?.qty ?? 0n)
    })
    const { least, most } = expected.cash
    return [
      ...(least <= cash && cash <= most ? [] : [{ rule: 'cash-as-ordered' as const, account }]),
      ...wrong.map((symbol) => ({ rule: 'shares-as-ordered' as const, account, symbol })),
    ]
  })
}

function checkPortfolio(state: MoneyState, account: Hex, portfolio: Portfolio | null): Disagreement[] {
  if (portfolio === null) return [{ rule: 'portfolio-readable', account }]
  const found: Disagreement[] = []
  const open = Object.values(portfolio.openOrders)
  for (const [symbol, { qty, locked }] of Object.entries(portfolio.positions)) {
    const locks = open.filter((order) => order.symbol === symbol).map((order) => order.locked)
    if (locked !== sum(locks) || locked > qty) found.push({ rule: 'locks-add-up', account, symbol })
  }
  const promised = open.filter(({ side, escrow }) => side === 'BUY' && escrow === 0n)
  if (sum(promised.map(({ notional }) => notional)) > portfolio.cash) {
    found.push({ rule: 'cash-not-promised-twice', account })
  }
  for (const { orderId, entry, order } of entriesOf(state, portfolio)) {
    const isItsOwn =
      order !== undefined &&
      sameAddress(order.account, account) &&
      order.amount === entry.escrow &&
      order.shares === 0n
    // A reclaimed order stays in the portfolio until the account's next run.
    if (!isItsOwn || order.state === 'SETTLED' || order.state === 'NONE') {
      found.push({ rule: 'entry-is-open', account, orderId })
    }
  }
  return found
}

function checkRefunds(state: MoneyState): Disagreement[] {
  const writtenAhead = new Set(entriesIn(state).map(({ orderId }) => orderId))
  return (
    [...state.orders]
      // A request gave nothing back: one that was reclaimed after its fill has taken the fill's effect.
      .filter(
        ([orderId, order]) => order.state === 'REFUNDED' && order.amount > 0n && !writtenAhead.has(orderId),
      )
      .filter(([orderId]) => (state.broker.orders.get(clientOrderIdOf(orderId))?.filledQty ?? 0n) > 0n)
      .map(([orderId, { account }]): Disagreement => ({ rule: 'refunded-unfilled', account, orderId }))
  )
}

/** Symbol by symbol: an order that others replaced has its fills under several of the broker's ids. */
function checkFills({ broker }: MoneyState): Disagreement[] {
  const symbols = new Set([...broker.orders.values(), ...broker.activities.fills].map(({ symbol }) => symbol))
  return [...symbols].flatMap((symbol): Disagreement[] => {
    const agrees = (['buy', 'sell'] as const).every((side) => {
      const isIts = (each: { side: string; symbol: string }) => each.side === side && each.symbol === symbol
      const ordered = [...broker.orders.values()].filter(isIts).map(({ filledQty }) => filledQty)
      return sum(ordered) === sum(broker.activities.fills.filter(isIts).map(({ qty }) => qty))
    })
    return agrees ? [] : [{ rule: 'fills-entered', symbol }]
  })
}

/** Up to the end of each day, as the broker may enter a day's fees on a later one. */
function checkFees({ broker }: MoneyState, schedule: FeeSchedule): Disagreement[] {
  const { fills, fees } = broker.activities
  const days = [...new Set(fees.map(({ day }) => day))].sort()
  return days.flatMap((day): Disagreement[] => {
    const charges = fees.filter((fee) => fee.day <= day)
    const owed = feesOf(
      schedule,
      // A session in New York never passes midnight in UTC.
      fills.filter(({ at }) => at.toISOString().slice(0, 10) <= day),
    )
    const charged = sum(charges.map(({ amount }) => amount))
    return charged <= owed + roundedUp(charges) ? [] : [{ rule: 'fees-as-set', day }]
  })
}

/**
 * USDC base units that the platform bears at most: the fees of purchases until the shares are sold, with the part of a
 * cent that each charge rounds up; half a cent of each fill of an order beyond its first, as the broker rounds each; and
 * what buys cost beyond their amounts.
 */
export function borneByPlatform({ broker }: Pick<MoneyState, 'broker'>, schedule: FeeSchedule): bigint {
  const { fills, fees } = broker.activities
  const purchases = fills.filter(({ side }) => side === 'buy')
  const orders = [...broker.orders.values()]
  const further = fills.length - orders.filter(({ filledQty }) => filledQty > 0n).length
  const excess = orders.map((order) => {
    const { side, notional } = order
    const over = side === 'buy' && notional !== null ? costOf(order) - notional : 0n
    return over > 0n ? over : 0n
  })
  const rounded = roundedUp(fees) + (BigInt(Math.max(further, 0)) * ONE_CENT) / 2n
  return feesOf(schedule, purchases) + rounded + sum(excess)
}

/** The broker's charges for fills, each fee rounded up to the cent once. */
function feesOf(schedule: FeeSchedule, fills: readonly TradeActivity[]): bigint {
  const feeOf = (fee: Fee) => {
    const charged = fills.filter(({ side }) => side === 'sell' || fee.on === 'both')
    return ceilFee(sum(charged.map(({ qty, price }) => exactFee(fee, qty, notionalOf(qty, price, 'up')))))
  }
  return sum(schedule.map(feeOf))
}

/** The most that rounding adds to charges. */
function roundedUp(charges: readonly FeeActivity[]): bigint {
  return BigInt(charges.length) * ONE_CENT
}

function entriesIn(state: MoneyState) {
  return portfoliosOf(state).flatMap((portfolio) => entriesOf(state, portfolio))
}

function entriesOf({ orders, broker }: MoneyState, { openOrders }: Portfolio) {
  return Object.entries(openOrders).map(([id, entry]) => {
    const orderId: Hex = `0x${id.slice(2)}`
    const order = orders.get(orderId)
    const fill = broker.orders.get(clientOrderIdOf(orderId))
    return { orderId, entry, order, isOpen: order?.state === 'OPEN', fill }
  })
}

function portfoliosOf({ portfolios }: MoneyState): Portfolio[] {
  return [...portfolios.values()].filter((portfolio) => portfolio !== null)
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}
