// What the doctor finds in the books: each portfolio against what its orders come to, fills and fees against the broker's activities.
import { expect, it } from 'vitest'
import { dayAt, type FeeActivity, type TradeActivity } from '../../src/broker/index.js'
import type { EscrowedOrder } from '../../src/chain/contracts.js'
import { createChainState } from '../../src/enclave/chainState.js'
import { createReplay } from '../../src/enclave/doctor/actionBooks.js'
import {
  borneByPlatform,
  checkMoney,
  type Disagreement,
  type MoneyState,
} from '../../src/enclave/doctor/invariants.js'
import { readBooks, readMoneyState } from '../../src/enclave/doctor/moneyState.js'
import type { BrokerFill, Payout } from '../../src/enclave/doctor/replay.js'
import { createPortfolioStore } from '../../src/enclave/stores.js'
import { feeScheduleText } from '../../src/protocol/fees.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { clientOrderIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { emptyPortfolio, type OpenOrder, type Portfolio } from '../../src/protocol/portfolio.js'
import { FEES as SANDBOX_FEES } from '../support/brokerBooks.js'
import { brokerOf, shares, usd } from '../support/brokerStandIn.js'
import { enact } from '../support/corporateActions.js'
import { eventually } from '../support/eventually.js'
import { ENCLAVE_KEYS } from './support/parties.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

/** The money of a platform without any order. */
const NO_MONEY: MoneyState = {
  ...{ orders: new Map(), payouts: new Map(), moves: new Map(), portfolios: new Map(), shares: new Map() },
  history: { actions: [], entered: [], ended: new Map(), moments: new Map() },
  usdc: { pool: 0n, escrow: 0n, escrowed: 0n, claimed: 0n },
  broker: {
    ...{ cash: 0n, positions: new Map(), orders: new Map() },
    activities: { fills: [], fees: [], booked: [], others: [] },
  },
}

/** A cent for each share that is sold. */
const FEES = feeScheduleText.parse('TAF:0.01/share')
const ALICE: Hex = '0xA11ce00000000000000000000000000000000001'

interface Entry {
  state?: EscrowedOrder['state']
  /** USDC in the escrow; left out: a request. */
  escrow?: number
  fill?: BrokerFill
  payout?: Payout
  /** Shares of AAPL in the escrow. */
  deposit?: number
}

const bought = (price: string, qty: number, change: Partial<BrokerFill> = {}): BrokerFill => ({
  symbol: 'AAPL',
  side: 'buy',
  filledQty: shares(qty),
  fills: [{ qty: shares(qty), avgPrice: price }],
  notional: usd(1_000),
  ...change,
})
const sold = (price: string, qty: number, change: Partial<BrokerFill> = {}) =>
  bought(price, qty, { side: 'sell', notional: null, ...change })

const idOf = (index: number): Hex => `0x${String(index + 1).padStart(32, '0')}${'0'.repeat(32)}`

/** Alice has bought five shares at 199.991 out of 1,000 USDC, and sold two of them at 210.005. */
const HISTORY: Entry[] = [{ escrow: 1_000, fill: bought('199.991', 5) }, { fill: sold('210.005', 2) }]
/** 1,000 − 999.96, and 420.01 − 0.02. */
const CASH = usd(0.04 + 419.99)

function stateOf(entries: readonly Entry[], portfolios: Record<Hex, Partial<Portfolio>>): MoneyState {
  const ids = entries.map((entry, index) => [idOf(index), entry] as const)
  return {
    ...NO_MONEY,
    // The whole is covered many times: no other rule has anything to say.
    usdc: { ...NO_MONEY.usdc, pool: usd(10_000_000) },
    orders: new Map(
      ids.map(([orderId, { state = 'SETTLED', escrow = 0, deposit = 0 }]) => [
        orderId,
        {
          ...{
            account: ALICE,
            state,
            amount: usd(escrow),
            deadline: 0,
            commit: ZERO_BYTES32,
            orgId: ZERO_BYTES32,
          },
          ...{ symbol: deposit > 0 ? nameToBytes32('AAPL') : ZERO_BYTES32, shares: shares(deposit) },
        },
      ]),
    ),
    payouts: new Map(ids.flatMap(([orderId, { payout }]) => (payout ? [[orderId, payout]] : []))),
    portfolios: new Map(
      Object.entries(portfolios).map(([account, portfolio]) => [
        `0x${account.slice(2)}`,
        { ...emptyPortfolio('0x'), ...portfolio },
      ]),
    ),
    broker: {
      ...NO_MONEY.broker,
      positions: new Map([['AAPL', shares(1_000_000)]]),
      orders: new Map(ids.flatMap(([orderId, { fill }]) => (fill ? [[clientOrderIdOf(orderId), fill]] : []))),
    },
  }
}

const OF_ACCOUNTS = new Set<Disagreement['rule']>([
  'cash-as-ordered',
  'shares-as-ordered',
  'refunded-unfilled',
])

/** The differences between the accounts, but for fills without activities and locks, which other tests cover. */
function found(
  entries: readonly Entry[],
  portfolio: Partial<Portfolio>,
  options: Partial<Parameters<typeof checkMoney>[1]> = {},
) {
  const all = checkMoney(stateOf(entries, { [ALICE]: portfolio }), { fees: FEES, ...options })
  return all.filter(({ rule }) => OF_ACCOUNTS.has(rule))
}

const holding = (qty: bigint) => ({ positions: { AAPL: { qty, locked: 0n } } })
const CASH_WRONG = { rule: 'cash-as-ordered', account: ALICE }
const SHARES_WRONG = { rule: 'shares-as-ordered', account: ALICE, symbol: 'AAPL' }

/** 530.012, rounded up once. */
const CARRIED_ON = [
  { qty: shares(2), avgPrice: '100' },
  { qty: shares(3), avgPrice: '110.004' },
]
const carriedOn: Entry = { escrow: 1_000, fill: bought('0', 5, { fills: CARRIED_ON }) }
const paid = (asset: string, amount: bigint): Entry => ({ payout: { asset, amount } })
const filledSale: Entry = { state: 'REFUNDED', fill: sold('200', 1) }

it.each<[string, Entry[], cash: bigint, qty: bigint]>([
  ['a buy and a sale', HISTORY, CASH, shares(3)],
  ['an order that others carried on', [carriedOn], usd(469.98), shares(5)],
  ['an order that cost more than its amount', [{ escrow: 1_000, fill: bought('200.5', 5) }], 0n, shares(5)],
  ['a withdrawal of cash', [...HISTORY, paid('USDC', usd(100))], CASH - usd(100), shares(3)],
  ['a withdrawal of shares', [...HISTORY, paid('AAPL', shares(1.5))], CASH, shares(1.5)],
  ['a deposit', [...HISTORY, { escrow: 300 }], CASH + usd(300), shares(3)],
  ['a deposit of shares', [...HISTORY, { deposit: 2 }], CASH, shares(5)],
  ['a deposit that came back', [...HISTORY, { escrow: 300, state: 'REFUNDED' }], CASH, shares(3)],
  ['a sale that was filled and reclaimed', [...HISTORY, filledSale], CASH + usd(199.99), shares(2)],
])('a portfolio of %s is what they come to, to the base unit', (_what, entries, cash, qty) => {
  expect(found(entries, { cash, ...holding(qty) })).toEqual([])
  expect(found(entries, { cash: cash + 1n, ...holding(qty) })).toEqual([CASH_WRONG])
  for (const off of [1n, -1n]) expect(found(entries, { cash, ...holding(qty + off) })).toEqual([SHARES_WRONG])
})

it('a portfolio with a symbol that was never ordered is a fault', () => {
  const positions = { ...holding(shares(3)).positions, TSLA: { qty: 1n, locked: 0n } }
  expect(found(HISTORY, { cash: CASH, positions })).toEqual([{ ...SHARES_WRONG, symbol: 'TSLA' }])
})

it('a portfolio that is not there is a fault, where something was settled', () => {
  const rules = checkMoney(stateOf(HISTORY, {}), { fees: FEES })
  expect(rules).toEqual(expect.arrayContaining([CASH_WRONG, SHARES_WRONG]))
})

it('a portfolio that does not open is left to its own rule', () => {
  const state = { ...stateOf(HISTORY, {}), portfolios: new Map([[ALICE, null]]) }
  expect(checkMoney(state, { fees: FEES })).toContainEqual({ rule: 'portfolio-readable', account: ALICE })
  expect(checkMoney(state, { fees: FEES })).not.toContainEqual(CASH_WRONG)
})

it('an order out of cash costs what the broker took, and a fraction of a cent of its amount is not known', () => {
  const history = [...HISTORY, { fill: bought('50', 2, { notional: usd(100) }) }]
  expect(found(history, { cash: CASH - usd(100), ...holding(shares(5)) })).toEqual([])
  // For 100.004 of the employee's: above the broker's amount, below the cost.
  const above = [...HISTORY, { fill: bought('50.01', 2, { notional: usd(100) }) }]
  expect(found(above, { cash: CASH - usd(100.004), ...holding(shares(5)) })).toEqual([])
  expect(found(above, { cash: CASH - usd(100.01), ...holding(shares(5)) })).toEqual([CASH_WRONG])
  expect(found(above, { cash: CASH - usd(99.99), ...holding(shares(5)) })).toEqual([CASH_WRONG])
})

it('an order written ahead has no effect, whatever is filled of it', () => {
  const entry: OpenOrder = {
    ...{ side: 'SELL', symbol: 'AAPL', notional: usd(200), escrow: 0n },
    ...{ locked: shares(1), brokerOrderId: '', placedAt: 0 },
  }
  const positions = { AAPL: { qty: shares(3), locked: shares(1) } }
  const openOrders = { [idOf(HISTORY.length)]: entry }
  for (const state of ['OPEN', 'REFUNDED'] as const) {
    const history = [...HISTORY, { state, fill: sold('200', 1) }]
    expect(found(history, { cash: CASH, positions, openOrders })).toEqual([])
  }
})

it('an order that got its escrow back is a fault of its account, where the enclave refunded a sale that was then filled', () => {
  expect(found([...HISTORY, filledSale], { cash: CASH, ...holding(shares(3)) })).toEqual([
    CASH_WRONG,
    SHARES_WRONG,
  ])
})

it("an order that got its escrow back leaves the fill to the platform, where it was a buy: the account's books are right", () => {
  const history: Entry[] = [...HISTORY, { state: 'REFUNDED', escrow: 500, fill: bought('250', 2) }]
  const orderId = idOf(HISTORY.length)
  const platforms = { rule: 'refunded-unfilled', account: ALICE, orderId }
  expect(found(history, { cash: CASH, ...holding(shares(3)) })).toEqual([platforms])
  expect(found(history, { cash: CASH, ...holding(shares(5)) })).toEqual([SHARES_WRONG, platforms])
})

const now = feeScheduleText.parse('TAF:0.05/share')

it('fees that have changed are a fault unless the earlier ones are named', () => {
  const portfolio = { cash: CASH, ...holding(shares(3)) }
  expect(found(HISTORY, portfolio, { fees: now })).toEqual([CASH_WRONG])
  expect(found(HISTORY, portfolio, { fees: now, earlierFees: [FEES] })).toEqual([])
  const beyond = { ...portfolio, cash: CASH + 1n }
  expect(found(HISTORY, beyond, { fees: now, earlierFees: [FEES] })).toEqual([CASH_WRONG])
})

/** A cent for each share that is sold, and a cent for each that is sold or bought. */
const BOTH = feeScheduleText.parse('TAF:0.01/share,CAT:0.01/share:both')

const fill = (change: Partial<TradeActivity> = {}): TradeActivity => ({
  orderId: '1',
  symbol: 'AAPL',
  side: 'sell',
  qty: shares(10),
  price: usd(200),
  at: new Date('2026-03-02T15:00:00Z'),
  ...change,
})
const ordered = (change: Partial<BrokerFill> = {}) => sold('200', 10, change)

function booksOf(orders: BrokerFill[], fills: TradeActivity[], fees: FeeActivity[] = []): MoneyState {
  return {
    ...NO_MONEY,
    broker: {
      ...NO_MONEY.broker,
      orders: new Map(orders.map((order, index) => [String(index), order])),
      activities: { ...NO_MONEY.broker.activities, fills, fees },
    },
  }
}

const disagreements = (state: MoneyState) => checkMoney(state, { fees: BOTH })

it('fills are those of the orders, also in parts', () => {
  const half = { qty: shares(5) }
  expect(disagreements(booksOf([ordered()], [fill(half), fill(half)]))).toEqual([])
})

it.each<[string, BrokerFill[], TradeActivity[]]>([
  ['that no order has', [], [fill()]],
  ['of more than the order has', [ordered()], [fill({ qty: shares(10) + 1n })]],
  ['that were not entered', [ordered()], []],
  ['on the other side', [ordered()], [fill({ side: 'buy' })]],
])('fills %s are a fault of that symbol', (_name, orders, fills) => {
  const sound = { symbol: 'MSFT', filledQty: shares(1) }
  const state = booksOf([...orders, ordered(sound)], [...fills, fill({ symbol: 'MSFT', qty: shares(1) })])
  expect(disagreements(state)).toEqual([{ rule: 'fills-entered', symbol: 'AAPL' }])
})

// A sale of ten shares: ten cents of each fee. Each charge may have been rounded up by a cent.
const [before, day, later] = ['2026-03-01', '2026-03-02', '2026-03-04'] as const

const on = (day: string, ...dollars: number[]) => dollars.map((each) => ({ day, amount: usd(each) }))

it.each<[string, charges: FeeActivity[], fault?: string]>([
  ['none', []],
  ['up to what the schedule says', on(day, 0.21)],
  ['that were given back', on(day, 0.5, -0.3)],
  ['beyond the schedule', on(day, 0.22), day],
  ['beyond the schedule with a second charge', [...on(day, 0.2), ...on(later, 0.03)], later],
  ['before any fill', on(before, 0.2), before],
])(
  'fees (%s) are a fault of the first day on which they are beyond the schedule',
  (_name, charges, fault) => {
    const expected = fault === undefined ? [] : [{ rule: 'fees-as-set', day: fault }]
    expect(disagreements(booksOf([ordered()], [fill()], charges))).toEqual(expected)
  },
)

it('the cost that the platform bears is the fees of purchases, and what each charge rounded up', () => {
  const bought = fill({ side: 'buy', qty: shares(0.1) })
  const orders = [ordered({ side: 'buy' }), ordered({ side: 'buy' })]
  const charges = [{ day: '2026-03-02', amount: usd(0.01) }]
  expect(borneByPlatform(booksOf(orders, [bought, bought]), BOTH)).toBe(usd(0.01))
  expect(borneByPlatform(booksOf(orders, [bought, bought], charges), BOTH)).toBe(usd(0.02))
})

it('the cost that the platform bears is half a cent of each fill beyond the first of an order', () => {
  expect(borneByPlatform(booksOf([ordered()], [fill(), fill(), fill()]), BOTH)).toBe(usd(0.01))
})

it('the cost that the platform bears is what a buy cost beyond its amount', () => {
  const buy = ordered({ side: 'buy', fills: [{ qty: shares(1), avgPrice: '100.123' }], notional: usd(100) })
  expect(borneByPlatform(booksOf([buy], []), BOTH)).toBe(usd(0.13))
  expect(borneByPlatform(booksOf([{ ...buy, fills: [{ qty: shares(1), avgPrice: '99' }] }], []), BOTH)).toBe(
    0n,
  )
})

it('the cost that the platform bears counts as covered', () => {
  const holding = (cash: bigint): MoneyState => ({
    ...booksOf(
      [ordered({ side: 'buy', fills: [{ qty: shares(1), avgPrice: '100.13' }], notional: usd(100) })],
      [fill({ side: 'buy' })],
    ),
    portfolios: new Map([['0x1', { cash, positions: {}, openOrders: {}, nonce: 1, userPubKey: '0x' }]]),
  })
  // Ten cents of fees, and thirteen beyond the amount.
  expect(disagreements(holding(usd(0.23)))).not.toContainEqual({ rule: 'cash-covered' })
  expect(disagreements(holding(usd(0.23) + 1n))).toContainEqual({ rule: 'cash-covered' })
})

it('a claim that enters the list in the second of its moment is replayed on what stood before it', () => {
  const recordAt = 1_800_000_000
  const history = {
    actions: [{ kind: 'ENTITLEMENT', index: 0, symbol: 'AAPL', recordAt }],
    ...{ entered: [1], ended: new Map(), moments: new Map([[recordAt, 2]]) },
  } as const
  const replay = createReplay([], history, { fills: new Map(), payouts: new Map(), schedules: [] })
  expect(replay.now()).toEqual({ positions: {}, cash: { least: 0n, most: 0n } })
})

const world = useWorld()
const alice = () => world().chain.account('alice')

/** @param change what somebody has done to Alice's portfolio */
async function diagnosis(change: (portfolio: Portfolio) => Portfolio = (same) => same) {
  const { chain, broker, deps } = world()
  const state = createChainState(deps())
  const store = createPortfolioStore(state, ENCLAVE_KEYS)
  const portfolios: typeof store = {
    ...store,
    async load(account, block) {
      const stored = await store.load(account, block)
      return account === chain.account('alice') && stored.portfolio
        ? { ...stored, portfolio: change(stored.portfolio) }
        : stored
    },
  }
  const since = new Date((await state.deployedAt()) * 1_000)
  const books = () => readBooks(brokerOf(broker.url), since)
  return checkMoney(await readMoneyState({ chain: state, rpc: deps().rpc, portfolios, books }), {
    fees: SANDBOX_FEES,
  })
}

it('the doctor reads what the broker books on the day of the deployment: a split is not called one that was never booked', async () => {
  const { chain, broker } = world()
  await world().settled(buy(1_000))
  const of = { symbol: 'AAPL', day: dayAt(new Date()) }
  broker.control.book({ type: 'forward_split', ...of, newRate: '2', oldRate: '1' })
  const split = { kind: 'SPLIT', symbol: 'AAPL', ratio: [2n, 1n] } as const
  await enact(chain, { ...split, recordAt: await chain.now() })
  expect(await diagnosis()).toEqual([])
  await enact(chain, { ...split, recordAt: await chain.now() })
  expect(await diagnosis()).toContainEqual({ rule: 'actions-booked', symbol: 'AAPL' })
})

it('the doctor, with its own reading of chain and broker, names the account whose cash or shares no order explains', async () => {
  await world().settled(buy(1_000))
  world().broker.control.fill({ mode: 'replace', fraction: '0.25', delayMs: 1_500, times: 1 })
  const sale = await world().open(sell(500))
  await world().run(sale)
  const isFilled = () => world().broker.control.orders().at(-1)?.status === 'filled'
  await eventually('the order that carries on fills', isFilled)
  expect(await world().run(sale)).toMatchObject({ outcome: 'settled' })
  await world().settled({ ...buy(300), who: 'bob' })
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(100) })
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) })
  await world().settled({ who: 'alice', side: 'BUY', symbol: 'MSFT', amount: usd(200.005) })
  expect(await diagnosis()).toEqual([])

  const cash = { rule: 'cash-as-ordered', account: alice() }
  for (const change of [usd(50_000), -usd(100)]) {
    expect(await diagnosis((own) => ({ ...own, cash: own.cash + change }))).toEqual([cash])
  }
  const [held] = Object.values((await world().portfolio('alice'))?.positions ?? {})
  for (const change of [shares(1), -shares(1)]) {
    const found = await diagnosis((own) => {
      const AAPL = { qty: (held?.qty ?? 0n) + change, locked: 0n }
      return { ...own, positions: { ...own.positions, AAPL } }
    })
    expect(found).toContainEqual({ rule: 'shares-as-ordered', account: alice(), symbol: 'AAPL' })
  }
})
