// The invariants over the broker's account activities.
import { expect, it } from 'vitest'
import type { FeeActivity, TradeActivity } from '../../src/broker/index.js'
import { borneByPlatform, checkMoney, type MoneyState } from '../../src/enclave/doctor/invariants.js'
import type { BrokerFill } from '../../src/enclave/doctor/replay.js'
import { feeScheduleText } from '../../src/protocol/fees.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { NO_MONEY } from './support/invariants.js'

/** A cent for each share that is sold, and a cent for each that is sold or bought. */
const FEES = feeScheduleText.parse('TAF:0.01/share,CAT:0.01/share:both')

const fill = (change: Partial<TradeActivity> = {}): TradeActivity => ({
  orderId: '1',
  symbol: 'AAPL',
  side: 'sell',
  qty: shares(10),
  price: usd(200),
  at: new Date('2026-03-02T15:00:00Z'),
  ...change,
})
const ordered = (change: Partial<BrokerFill> = {}): BrokerFill => ({
  symbol: 'AAPL',
  side: 'sell',
  filledQty: shares(10),
  fills: [{ qty: shares(10), avgPrice: '200' }],
  notional: null,
  ...change,
})

function stateOf(orders: BrokerFill[], fills: TradeActivity[], fees: FeeActivity[] = []): MoneyState {
  return {
    ...NO_MONEY,
    broker: {
      ...NO_MONEY.broker,
      orders: new Map(orders.map((order, index) => [String(index), order])),
      activities: { ...NO_MONEY.broker.activities, fills, fees },
    },
  }
}

const found = (state: MoneyState) => checkMoney(state, { fees: FEES })

it('fills are those of the orders, also in parts', () => {
  const half = { qty: shares(5) }
  expect(found(stateOf([ordered()], [fill(half), fill(half)]))).toEqual([])
})

it.each<[string, BrokerFill[], TradeActivity[]]>([
  ['that no order has', [], [fill()]],
  ['of more than the order has', [ordered()], [fill({ qty: shares(10) + 1n })]],
  ['that were not entered', [ordered()], []],
  ['on the other side', [ordered()], [fill({ side: 'buy' })]],
])('fills %s are a fault of that symbol', (_name, orders, fills) => {
  const sound = { symbol: 'MSFT', filledQty: shares(1) }
  const state = stateOf([...orders, ordered(sound)], [...fills, fill({ symbol: 'MSFT', qty: shares(1) })])
  expect(found(state)).toEqual([{ rule: 'fills-entered', symbol: 'AAPL' }])
})

// A sale of ten shares: ten cents of each fee. Each charge may have been rounded up by a cent.
const [before, day, later] = ['2026-03-01', '2026-03-02', '2026-03-04'] as const

it.each<[string, fees: [day: string, dollars: number][], fault?: string]>([
  ['none', []],
  ['up to what the schedule says', [[day, 0.21]]],
  ['up to what the schedule says, later', [[later, 0.21]]],
  [
    'that were given back',
    [
      [day, 0.5],
      [day, -0.3],
    ],
  ],
  ['beyond the schedule', [[day, 0.22]], day],
  [
    'beyond the schedule with a second charge',
    [
      [day, 0.2],
      [later, 0.03],
    ],
    later,
  ],
  ['before any fill', [[before, 0.2]], before],
])('fees (%s) are a fault of the first day on which they are beyond the schedule', (_name, fees, fault) => {
  const charges = fees.map(([day, dollars]) => ({ day, amount: usd(dollars) }))
  const expected = fault === undefined ? [] : [{ rule: 'fees-as-set', day: fault }]
  expect(found(stateOf([ordered()], [fill()], charges))).toEqual(expected)
})

it('the cost that the platform bears is the fees of purchases, and what each charge rounded up', () => {
  const bought = fill({ side: 'buy', qty: shares(0.1) })
  const orders = [ordered({ side: 'buy' }), ordered({ side: 'buy' })]
  const charges = [{ day: '2026-03-02', amount: usd(0.01) }]
  expect(borneByPlatform(stateOf(orders, [bought, bought]), FEES)).toBe(usd(0.01))
  expect(borneByPlatform(stateOf(orders, [bought, bought], charges), FEES)).toBe(usd(0.02))
})

it('the cost that the platform bears is half a cent of each fill beyond the first of an order', () => {
  expect(borneByPlatform(stateOf([ordered()], [fill(), fill(), fill()]), FEES)).toBe(usd(0.01))
})

it('the cost that the platform bears is what a buy cost beyond its amount', () => {
  const buy = ordered({ side: 'buy', fills: [{ qty: shares(1), avgPrice: '100.123' }], notional: usd(100) })
  expect(borneByPlatform(stateOf([buy], []), FEES)).toBe(usd(0.13))
  expect(borneByPlatform(stateOf([{ ...buy, fills: [{ qty: shares(1), avgPrice: '99' }] }], []), FEES)).toBe(
    0n,
  )
})

it('the cost that the platform bears counts as covered', () => {
  const holding = (cash: bigint): MoneyState => ({
    ...stateOf(
      [ordered({ side: 'buy', fills: [{ qty: shares(1), avgPrice: '100.13' }], notional: usd(100) })],
      [fill({ side: 'buy' })],
    ),
    portfolios: new Map([['0x1', { cash, positions: {}, openOrders: {}, nonce: 1, userPubKey: '0x' }]]),
  })
  // Ten cents of fees, and thirteen beyond the amount.
  expect(found(holding(usd(0.23)))).not.toContainEqual({ rule: 'cash-covered' })
  expect(found(holding(usd(0.23) + 1n))).toContainEqual({ rule: 'cash-covered' })
})
