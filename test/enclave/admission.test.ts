// Every rule of admission as a row: an order that is let in, changed in one thing. Only one or two refusals are tried on a chain.
import { expect, it } from 'vitest'
import type { BrokerOrder } from '../../src/broker/index.js'
import type { NoticeCode } from '../../src/enclave/notices.js'
import {
  type Asked,
  type ChainFacts,
  judgeNew,
  judgeWrittenAhead,
  type Market,
} from '../../src/enclave/order/admission.js'
import { decodeEntry, markedEntry, newEntry, type OrderTerms } from '../../src/enclave/order/life.js'
import type { Limits } from '../../src/enclave/run.js'
import type { CorporateAction } from '../../src/protocol/corporateActions.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { clientOrderIdOf } from '../../src/protocol/identifiers.js'
import type { Limit } from '../../src/protocol/orderTerms.js'
import type { Policy } from '../../src/protocol/policy.js'
import type { OpenOrder, Portfolio, Position } from '../../src/protocol/portfolio.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { USER_PUBKEY } from './support/parties.js'

const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ID: Hex = `0x${'ab'.repeat(32)}`
const DEADLINE = 1_000_000
const DAY_MS = 86_400_000
/** A day beyond the block's time, in milliseconds. */
const DAY_AHEAD = (DEADLINE - 1) * 1_000 + DAY_MS
const LEAPT = 2 ** 52
const EARLIER = { blockTime: DEADLINE - 2 }
const at = (seconds: number) => new Date(seconds * 1_000)

const terms: OrderTerms = {
  orderId: ID,
  account: ALICE,
  side: 'BUY',
  symbol: 'AAPL',
  amount: usd(100),
  escrowed: usd(100),
  deposited: null,
  deadline: DEADLINE,
  commit: ID,
}
const rules = { canBuy: true, canSell: true, restricted: ['TSLA'] }
const policy: Policy = {
  employees: { [ALICE.toLowerCase()]: rules },
  maxOrderNotional: usd(1_000),
  allowWithdrawShares: true,
}
const facts: ChainFacts = {
  blockTime: DEADLINE - 1,
  member: true,
  admitted: true,
  leaving: false,
  policy,
  kyc: true,
  names: ['AAPL'],
  frozen: false,
  listed: true,
  removed: false,
}
const reserved = newEntry({ ...terms, symbol: 'MSFT', amount: usd(20), escrowed: 0n }, 0n, 1)
const escrowed: OpenOrder = { ...reserved, notional: usd(30), escrow: usd(30) }
const selling: OpenOrder = { ...reserved, side: 'SELL', symbol: 'AAPL', locked: shares(4) }
const openOrders: Portfolio['openOrders'] = {
  [`0x${'01'.repeat(32)}`]: reserved,
  [`0x${'02'.repeat(32)}`]: escrowed,
  [`0x${'03'.repeat(32)}`]: selling,
}
/** 300 USDC, of which a buy reserves 20; 10 shares, of which a sale locks 4. */
const portfolio: Portfolio = {
  cash: usd(300),
  positions: { AAPL: { qty: shares(10), locked: shares(4) } },
  openOrders,
  nonce: 5,
  userPubKey: USER_PUBKEY,
}
const open = { timestamp: at(1), isOpen: true, nextOpen: at(5_000_000), nextClose: at(2) }
const closed = (nextOpen: number) => ({ ...open, isOpen: false, nextOpen: at(nextOpen) })
const apple = { symbol: 'AAPL', name: 'Apple', status: 'active', tradable: true, fractionable: true }
const limits: Limits = { order: usd(5), withdrawal: usd(5) }
const NONE: Limits = { order: 0n, withdrawal: 0n }

/** The differences from an admitted order. */
interface Change {
  terms?: Partial<OrderTerms>
  intent?: Partial<Asked['intent']>
  /** At the head; `deep` at the stated depth. */
  facts?: Partial<ChainFacts>
  deep?: Partial<ChainFacts>
  policy?: Partial<Policy>
  rules?: Partial<typeof rules>
  /** Null for an account that has none. */
  portfolio?: Partial<Portfolio> | null
  /** The position in the symbol. */
  position?: Position
  market?: Market
  limits?: Partial<Limits>
}

function factsOf(change: Change, at: 'facts' | 'deep'): ChainFacts {
  const employees = { [ALICE.toLowerCase()]: { ...rules, ...change.rules } }
  const names = [change.terms?.symbol ?? terms.symbol]
  return { ...facts, names, policy: { ...policy, employees, ...change.policy }, ...change[at] }
}

function portfolioOf({ portfolio: changed, position }: Change): Portfolio | null {
  if (changed === null) return null
  return { ...portfolio, ...(position && { positions: { AAPL: position } }), ...changed }
}

/** A code, what has yet to be read, or the share base units that are locked. */
type Verdict = NoticeCode | `needs ${keyof Market}` | bigint

function verdictOf(change: Change, known: Market): Verdict {
  const asked: Asked = {
    terms: { ...terms, ...change.terms },
    intent: { nonce: 6, expiry: DEADLINE, ...change.intent },
    portfolio: portfolioOf(change),
    limits: { ...limits, ...change.limits },
    enacted: [],
  }
  const verdict = judgeNew(asked, [factsOf(change, 'facts'), factsOf(change, 'deep')], {
    ...known,
    ...change.market,
  })
  if ('refused' in verdict) return verdict.refused
  return 'needs' in verdict ? `needs ${verdict.needs}` : verdict.lock
}

type Rows = [name: string, change: Change, verdict: Verdict][]

const limitAt = (price: bigint): Limit => ({ price, timeInForce: 'GTD' })
const at190 = limitAt(usd(190))

const RENAMED = { names: ['AAPL', 'FB'] }
const ofGroup = {
  employees: { [ALICE.toLowerCase()]: { group: 'Desk' } },
  groups: { Desk: { ...rules, restricted: ['AAPL'] } },
}
const OUTSIDE = { member: false, policy: null }
const fromCash = { escrowed: 0n }
const spending = (usdc: number) => ({ amount: usd(usdc), escrowed: usd(usdc) })
const UNIT = { qty: 1n, locked: 0n }
const NOTHING_HELD = { positions: {}, openOrders: {} }
const HUNDRED = { ...NOTHING_HELD, cash: usd(100) }
/** Four hundred symbols leave room for nothing that may come. */
const FULL = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`S${i}`, { qty: 1n, locked: 0n }]))

const buys: Rows = [
  ['that breaks no rule', {}, 0n],
  ['with a limit', { terms: { limit: at190 } }, 0n],
  ['with a limit between two cents', { terms: { limit: limitAt(1_005_000n) } }, 'limit-price-increment'],
  ['with a limit below a dollar, between two cents', { terms: { limit: limitAt(995_000n) } }, 0n],
  ['with a limit of less than 0.0001', { terms: { limit: limitAt(995_050n) } }, 'limit-price-increment'],
  ['of an account without a portfolio', { portfolio: null, intent: { nonce: 1 } }, 0n],
  ['with nonce 0 of a new account', { portfolio: null, intent: { nonce: 0 } }, 'nonce-not-fresh'],
  ['a day beyond the block’s time', { intent: { nonce: DAY_AHEAD } }, 0n],
  ['a day beyond the head’s alone', { intent: { nonce: DAY_AHEAD }, deep: EARLIER }, 'nonce-too-far-ahead'],
  ['a day beyond a leapt nonce', { portfolio: { nonce: LEAPT }, intent: { nonce: LEAPT + DAY_MS } }, 0n],
  ['past its deadline at the depth', { deep: { blockTime: DEADLINE + 1 } }, 'expired'],
  ['of a wallet not verified at the depth', { deep: { kyc: false } }, 'kyc'],
  ['of a holding frozen at the depth', { deep: { frozen: true } }, 'frozen'],
  ['without a rulebook', { facts: { policy: null } }, 'not-permitted'],
  ['by one whom the rulebook does not name', { policy: { employees: {} } }, 'not-permitted'],
  ['by one to whom the default alone applies', { policy: { employees: {}, default: rules } }, 0n],
  ['by an exception of it', { rules: { canBuy: false }, policy: { default: rules } }, 'not-permitted'],
  ['of a symbol that its employee’s group may not trade', { policy: ofGroup }, 'restricted-symbol'],
  ['restricted under a former name', { rules: { restricted: ['FB'] }, facts: RENAMED }, 'restricted-symbol'],
  ['above the limit', { policy: { maxOrderNotional: usd(99.999999) } }, 'over-limit'],
  ['at the limit', { policy: { maxOrderNotional: usd(100) } }, 0n],
  ["below the broker's minimum", { terms: spending(0.999999), limits: NONE }, 'below-minimum'],
  ["at the broker's minimum", { terms: spending(1), limits: NONE }, 0n],
  ["below the platform's minimum", { limits: { order: usd(100.000001) } }, 'below-minimum'],
  ["at the platform's minimum", { limits: { order: usd(100) } }, 0n],
  ['of the whole balance', { terms: fromCash, portfolio: HUNDRED, limits: { order: usd(101) } }, 0n],
  ['of as much out of the escrow', { portfolio: HUNDRED, limits: { order: usd(101) } }, 'below-minimum'],
  ['into a full portfolio', { portfolio: { positions: FULL } }, 'portfolio-full'],
  ['from all the free cash', { terms: { ...fromCash, amount: usd(280) } }, 0n],
  ['from more than the free cash', { terms: { ...fromCash, amount: usd(280.000001) } }, 'insufficient-cash'],
  ['from cash of a new account', { terms: fromCash, portfolio: null }, 'insufficient-cash'],
  ['in a market that opens before its deadline', { market: { clock: closed(DEADLINE - 1) } }, 0n],
  ['of an inactive asset', { market: { asset: { ...apple, status: 'inactive' } } }, 'not-tradable'],
  ['of an asset not traded now', { market: { asset: { ...apple, tradable: false } } }, 'not-tradable'],
  ['of an asset without fractions', { market: { asset: { ...apple, fractionable: false } } }, 'not-tradable'],
]

const aSale = { side: 'SELL', escrowed: 0n } as const
const inSale = (change: Change): Change => ({ ...change, terms: { ...aSale, ...change.terms } })

const sales: Rows = [
  ['by one who may only sell', { rules: { canBuy: false } }, shares(0.5)],
  ['with a limit above the market locks less', { terms: { limit: limitAt(usd(400)) } }, shares(0.25)],
  ['with a limit below the market locks no more', { terms: { limit: at190 } }, shares(0.5)],
  ['outside, above its limit', { facts: OUTSIDE, deep: OUTSIDE, terms: { amount: usd(1_200) } }, shares(6)],
  ['while leaving', { facts: { leaving: true } }, shares(0.5)],
  ['of an unlisted symbol', { facts: { listed: false } }, shares(0.5)],
  ['of a symbol that is not held', { terms: { symbol: 'ZZZZ' } }, 'insufficient-shares'],
  ['of an account without a portfolio', { portfolio: null }, 'insufficient-shares'],
  ['of more than is free', { terms: { amount: usd(1_000) }, market: { price: usd(50) } }, shares(6)],
  ['of free shares worth too little', { position: UNIT }, 'insufficient-shares'],
  ["below the platform's minimum", { limits: { order: usd(100.000001) } }, 'below-minimum'],
  ['of a whole small position', { position: { qty: shares(0.01), locked: 0n } }, shares(0.01)],
  ['of all that is free of one', { position: { qty: shares(0.02), locked: shares(0.01) } }, 'below-minimum'],
]

const aWithdrawal = { side: 'WITHDRAW', escrowed: 0n } as const
const inCash = (change: Change): Change => ({
  ...change,
  terms: { ...aWithdrawal, symbol: 'USDC', ...change.terms },
})
const inShares = (change: Change): Change => ({
  ...change,
  terms: { ...aWithdrawal, amount: shares(1), ...change.terms },
})

/** No row of these needs the market. */
const cashWithdrawals: Rows = [
  ['of all the free cash', { terms: { amount: usd(280) } }, 0n],
  ['of more than the free cash', { terms: { amount: usd(280.000001) } }, 'insufficient-cash'],
  ['of nothing', { terms: { amount: 0n }, limits: NONE }, 'below-minimum'],
  ["below the platform's minimum", { terms: { amount: usd(4.999999) } }, 'below-minimum'],
  ['of a single unit, without a minimum', { terms: { amount: 1n }, limits: NONE }, 0n],
  ['of the whole small balance', { terms: { amount: 1n }, portfolio: { ...NOTHING_HELD, cash: 1n } }, 0n],
  ['of its free rest', { terms: { amount: 1n }, portfolio: { cash: usd(20) + 1n } }, 'below-minimum'],
  ['with USDC in the escrow', { terms: { escrowed: usd(100) } }, 'escrow-mismatch'],
  ['outside an institution, by a wallet with a freeze', { facts: { ...OUTSIDE, frozen: true } }, 0n],
]

const shareWithdrawals: Rows = [
  ['that the rulebook allows', {}, 0n],
  ['without a rulebook', { facts: OUTSIDE }, 'withdrawals-not-allowed'],
  ['of an unlisted symbol', { facts: { listed: false } }, 0n],
  ['by one whom the rulebook does not name', { policy: { employees: {} } }, 0n],
  ['of shares that a sale locks', { terms: { amount: shares(6) + 1n } }, 'insufficient-shares'],
  ["below the platform's minimum", { terms: { amount: shares(0.024) } }, 'below-minimum'],
  ["at the platform's minimum", { terms: { amount: shares(0.025) } }, 0n],
]

const aDeposit = { side: 'DEPOSIT', symbol: 'USDC' } as const
const inDeposit = (change: Change): Change => ({ ...change, terms: { ...aDeposit, ...change.terms } })

/** No row of these needs the market. */
const deposits: Rows = [
  ['of the escrowed amount', {}, 0n],
  ['by an account without a portfolio', { portfolio: null }, 0n],
  ['of more than the escrow has', { terms: { amount: usd(100.000001) } }, 'escrow-mismatch'],
  ['of shares, with USDC in the escrow', { terms: { symbol: 'AAPL' } }, 'escrow-mismatch'],
  ['outside an institution', { facts: OUTSIDE }, 'no-institution'],
  ['for an institution that is not admitted', { deep: { admitted: false } }, 'not-admitted'],
  ['while leaving', { facts: { leaving: true } }, 'leaving'],
  ['without a rulebook', { facts: { policy: null } }, 0n],
  ['above the limit of trades', { policy: { maxOrderNotional: usd(1) } }, 0n],
  ["below the platform's minimum", { limits: { withdrawal: usd(100.000001) } }, 'below-minimum'],
  ["at the platform's minimum", { limits: { withdrawal: usd(100) } }, 0n],
  ['of nothing at all', { terms: spending(0), limits: NONE }, 'below-minimum'],
]

const brings = (symbol: string, amount: bigint) => ({ escrowed: 0n, deposited: { symbol, amount } })
const inReturn = (change: Change): Change => ({
  ...change,
  terms: { side: 'DEPOSIT', amount: shares(1), ...brings('AAPL', shares(1)), ...change.terms },
})

const shareDeposits: Rows = [
  ['that are in the escrow', {}, 0n],
  ['under a former name', { terms: brings('FB', shares(1)), facts: RENAMED, deep: RENAMED }, 0n],
  ['of shares that were removed', { facts: { removed: true } }, 'shares-removed'],
  ['of nothing', { terms: { amount: 0n, ...brings('AAPL', 0n) }, limits: NONE }, 'below-minimum'],
  ['outside an institution', { facts: OUTSIDE }, 0n],
  ['of an unlisted symbol', { facts: { listed: false } }, 0n],
  ['of a frozen holding', { deep: { frozen: true } }, 'frozen'],
  ['of more than the escrow has', { terms: { amount: shares(1) + 1n } }, 'escrow-mismatch'],
  ['of another symbol', { terms: { symbol: 'MSFT' } }, 'escrow-mismatch'],
  ['sealed as a sale', { terms: { side: 'SELL' } }, 'escrow-mismatch'],
  ['sealed as a withdrawal', { terms: { side: 'WITHDRAW' } }, 'escrow-mismatch'],
  ['into a full portfolio', { portfolio: { positions: FULL } }, 'portfolio-full'],
  ['below the platform’s minimum', { limits: { withdrawal: usd(201) } }, 'below-minimum'],
]

const kinds: [kind: string, rows: Rows, of: (change: Change) => Change, known: Market][] = [
  ['a buy', buys, (change) => change, { clock: open, asset: apple }],
  ['a sale', sales, inSale, { clock: open, price: usd(200) }],
  ['a withdrawal of cash', cashWithdrawals, inCash, {}],
  ['a withdrawal of shares', shareWithdrawals, inShares, { price: usd(200) }],
  ['a deposit of USDC', deposits, inDeposit, {}],
  ['a deposit of shares', shareDeposits, inReturn, { price: usd(200) }],
]

it.each(
  kinds.flatMap(([kind, rows, of, known]) =>
    rows.map(([name, change, verdict]) => [`${kind} ${name}`, of(change), known, verdict] as const),
  ),
)('%s', (_, change, known, verdict) => {
  expect(verdictOf(change, known)).toBe(verdict)
})

const SHUT = { clock: closed(DEADLINE) }

/** The rules in the order in which they bind, each with what breaks it. */
type Breaches = [code: NoticeCode, change: Change][]
const buyBreaches: Breaches = [
  ['nonce-not-fresh', { intent: { nonce: 5 } }],
  ['nonce-too-far-ahead', { intent: { nonce: DAY_AHEAD + 1 } }],
  ['deadline-mismatch', { intent: { expiry: 1 } }],
  ['expired', { facts: { blockTime: DEADLINE } }],
  ['escrow-mismatch', { terms: { escrowed: 1n } }],
  ['kyc', { facts: { kyc: false } }],
  ['frozen', { facts: { frozen: true } }],
  ['no-institution', { facts: { member: false } }],
  ['not-admitted', { facts: { admitted: false } }],
  ['leaving', { facts: { leaving: true } }],
  ['not-permitted', { rules: { canBuy: false } }],
  ['restricted-symbol', { rules: { restricted: ['AAPL'] } }],
  ['over-limit', { policy: { maxOrderNotional: 1n } }],
  ['below-minimum', { limits: { order: usd(1_000_000) } }],
  ['not-listed', { facts: { listed: false } }],
  ['insufficient-cash', { terms: fromCash, portfolio: { cash: 1n, positions: FULL } }],
  ['portfolio-full', { portfolio: { positions: FULL } }],
  ['closed-until-deadline', { market: SHUT }],
  ['not-tradable', { market: { asset: null } }],
]
const saleBreaches: Breaches = [
  ['escrow-mismatch', { terms: { escrowed: 1n } }],
  ['kyc', { facts: { kyc: false } }],
  ['frozen', { facts: { frozen: true } }],
  ['not-permitted', { rules: { canSell: false } }],
  ['restricted-symbol', { rules: { restricted: ['AAPL'] } }],
  ['over-limit', { policy: { maxOrderNotional: 1n } }],
  ['below-minimum', { terms: { amount: usd(0.5) } }],
  ['insufficient-shares', { position: { qty: 7n, locked: 7n } }],
  ['closed-until-deadline', { market: SHUT }],
  ['below-minimum', { limits: { order: usd(1_000_000) } }],
]
const shareBreaches: Breaches = [
  ['escrow-mismatch', { terms: { escrowed: 1n } }],
  ['kyc', { facts: { kyc: false } }],
  ['frozen', { facts: { frozen: true } }],
  ['withdrawals-not-allowed', { policy: { allowWithdrawShares: false } }],
  ['insufficient-shares', { position: { qty: shares(3), locked: shares(3) } }],
  ['below-minimum', { limits: { withdrawal: usd(1_000_000) } }],
]

const PARTS = ['terms', 'intent', 'facts', 'policy', 'rules', 'portfolio', 'market', 'limits'] as const

/** Both changes; where they touch the same thing, the first. */
function both(first: Change, second: Change): Change {
  const merged: Change = {}
  for (const part of PARTS) {
    Object.assign(merged, { [part]: { ...second[part], ...first[part] } })
  }
  const position = first.position ?? second.position
  return position ? { ...merged, position } : merged
}

it.each<[string, Breaches, (change: Change) => Change, Market]>([
  ['a buy', buyBreaches, (change) => change, { clock: open, asset: apple }],
  ['a sale', saleBreaches, inSale, { clock: open, price: usd(200) }],
  ['a withdrawal of shares', shareBreaches, inShares, { price: usd(200) }],
])('%s that breaks two rules learns the first of them', (_, breaches, of, known) => {
  for (const [index, [code, first]] of breaches.entries()) {
    for (const [other, second] of breaches.slice(index)) {
      expect(verdictOf(of(both(first, second)), known), `${code} and ${other}`).toBe(code)
    }
  }
})

const known = { asset: apple, price: usd(200) }
const ofSplit = { index: 0, symbol: 'AAPL', recordAt: 1, numerator: 4n, denominator: 1n }
const split: CorporateAction = { kind: 'SPLIT', ...ofSplit }

interface Held extends Change {
  /** It was marked: no run may send it any more. */
  marked?: boolean
  locked?: bigint
  actions?: readonly CorporateAction[]
  /** A placement of before, at a limit that was not its own. */
  earlier?: BrokerOrder
}

const followed = { count: 0, listHash: ZERO_BYTES32 }
const STORED = {
  account: ALICE,
  version: 1n,
  hash: ZERO_BYTES32,
  bytes: 0,
  followed,
  followedBefore: 0,
} as const

/** The order's own lock and reservation count as free, so the rows hand in the portfolio without it. */
function heldVerdict({ marked, locked = 0n, earlier, ...change }: Held) {
  const held = { ...terms, ...change.terms }
  const without = portfolioOf(change) ?? portfolio
  const state = { ...STORED, portfolio: without }
  const entry: OpenOrder = newEntry(held, locked, 1)
  const order = decodeEntry(
    { state, terms: held, entry: marked ? markedEntry(entry) : entry },
    earlier && [earlier],
  )
  const seen = [factsOf(change, 'facts'), factsOf(change, 'deep')]
  const market = { ...known, clock: open, ...change.market }
  const verdict = judgeWrittenAhead(order, without, { facts: seen, actions: change.actions ?? [] }, market)
  if ('refused' in verdict) return verdict.refused
  if ('needs' in verdict) return `needs ${verdict.needs}`
  if ('isClosed' in verdict) return 'market-closed'
  expect(verdict.order).toBe(order)
  return verdict.place
}

const clientOrderId = clientOrderIdOf(ID)
const bought = (notional: bigint) => ({ symbol: 'AAPL', side: 'buy', notional, clientOrderId })
const sold = (qty: bigint) => ({ symbol: 'AAPL', side: 'sell', qty, clientOrderId })
const sale = { terms: aSale, locked: shares(2) }
const ofOne = { position: { qty: shares(1), locked: 0n } }
const passed: BrokerOrder = {
  ...{ id: '1', clientOrderId, symbol: 'AAPL', side: 'buy', notional: usd(100), qty: null },
  ...{ limitPrice: usd(189), status: 'canceled', state: 'canceled', createdAt: at(1), endedAt: at(1) },
  ...{ filledQty: 0n, fills: [] },
}
const again = { ...bought(usd(100)), clientOrderId: clientOrderIdOf(ID, 1) }
const yesterday = { ...passed, createdAt: new Date(open.nextClose.getTime() - 86_400_000) }
const ofDay = { terms: { limit: { price: usd(190), timeInForce: 'DAY' as const } } }
const later = closed(DEADLINE - 1)

it.each<[string, Held, unknown]>([
  ['is bought for whole cents', { terms: spending(100.009) }, bought(usd(100))],
  ['is bound by no least amount any more', { terms: spending(1) }, bought(usd(1))],
  ['is refused past its deadline', { facts: { blockTime: DEADLINE } }, 'expired'],
  ['is refused when the wallet was frozen since', { deep: { frozen: true } }, 'frozen'],
  ['is refused without its cash', { terms: fromCash, portfolio: { cash: usd(99) } }, 'insufficient-cash'],
  ['is refused in a market that opens too late', { market: SHUT }, 'closed-until-deadline'],
  ['waits for the opening', { market: { clock: later } }, 'market-closed'],
  ['is refused when the asset is not traded any more', { market: { asset: null } }, 'not-tradable'],
  ['that was marked is never placed', { marked: true }, 'not-placed'],
  ['that was marked does not wait either', { marked: true, market: { clock: later } }, 'not-placed'],
  ['that was marked keeps a reason that still holds', { marked: true, facts: { kyc: false } }, 'kyc'],
  ['is sold by quantity, at the price of now', { ...sale, market: { price: usd(400) } }, sold(shares(0.25))],
  ['is sold up to its lock at a lower price', { ...sale, market: { price: usd(25) } }, sold(shares(2))],
  ['is sold up to what is free', { ...sale, ...ofOne, market: { price: usd(25) } }, sold(shares(1))],
  ['is refused as a sale worth too little', { ...sale, locked: 1n }, 'insufficient-shares'],
  ['is placed with its limit', { terms: { limit: at190 } }, { ...bought(usd(100)), limitPrice: usd(190) }],
  ['is refused with a limit of before', { terms: { limit: at190 }, actions: [split] }, 'corporate-action'],
  ['is placed over a split without a limit', { actions: [split] }, bought(usd(100))],
  ['is placed again as it is, after a limit that was not its own', { earlier: passed }, again],
  ['is refused where a split came after that', { earlier: passed, actions: [split] }, 'corporate-action'],
  ['is placed again on its day', { ...ofDay, earlier: passed }, { ...again, limitPrice: usd(190) }],
  ['is not placed again on another day', { ...ofDay, earlier: yesterday }, 'expired-at-close'],
])('an order written ahead %s', (_, change, verdict) => {
  expect(heldVerdict(change)).toEqual(verdict)
})
