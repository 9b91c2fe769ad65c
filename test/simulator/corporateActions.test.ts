// Booked corporate actions look as Alpaca documents them, and move the account's books by what they enter.
import { expect, it, onTestFinished } from 'vitest'
import type { ControlInput } from '../../src/simulator/index.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf, shares, startStandIn, usd } from '../support/brokerStandIn.js'

const COMMON = { symbol: 'AAPL', day: '2026-03-02' }
const RATES = { newRate: '3', oldRate: '2' }

/** An account that holds 1.5 AAPL. */
async function setUp() {
  const { url, control, stop } = await startStandIn()
  onTestFinished(stop)
  control.account({ name: 'enclave', positions: { AAPL: '1.5' } })
  return { control, broker: brokerOf(url), after: { after: new Date(0) } }
}

const keysOf = (entries: unknown) =>
  Object.values(Object(entries)).map((entry) =>
    Object.keys(Object(entry))
      .filter((key) => key !== 'price')
      .sort(),
  )

it.each<[ControlInput<'book'>, documented: string, positions: object, cash: number]>([
  [{ type: 'forward_split', ...COMMON, ...RATES }, 'split', { AAPL: '2.25' }, 0],
  [{ type: 'reverse_split', ...COMMON, newRate: '1', oldRate: '7' }, 'split', { AAPL: '0.214285714' }, 0],
  [{ type: 'stock_dividend', ...COMMON, rate: '0.05' }, 'stock-dividend', { AAPL: '1.575' }, 0],
  [
    { type: 'cash_dividend', ...COMMON, rate: '0.251', withholding: '0.25', qty: '2', account: 'enclave' },
    ...(['dividend', { AAPL: '1.5' }, 0.38] as const),
  ],
  [{ type: 'name_change', ...COMMON, successor: 'APPL' }, 'symbol-change', { APPL: '1.5' }, 0],
  [{ type: 'worthless_removal', ...COMMON }, 'removal', {}, 0],
  [{ type: 'cash_merger', ...COMMON, cashRate: '12.6341694' }, 'cash-merger', {}, 18.95],
  [
    { type: 'stock_and_cash_merger', ...COMMON, ...RATES, successor: 'MSFT', cashRate: '9' },
    ...(['merger', { MSFT: '2.25' }, 13.5] as const),
  ],
  [
    { type: 'spin_off', ...COMMON, ...RATES, successor: 'MSFT' },
    ...(['spin-off', { AAPL: '1.5', MSFT: '2.25' }, 0] as const),
  ],
])(
  'the stand-in books a corporate action in the recorded form: %j',
  async (action, name, positions, cash) => {
    const { control, broker, after } = await setUp()
    control.fill({ mode: 'hold' })
    await broker.placeOrder({ symbol: 'AAPL', side: 'sell', qty: shares(1), clientOrderId: 'open' })
    control.book(action)
    const account = control.accounts().find((each) => each.name === 'enclave')
    expect(account?.positions).toEqual(positions)
    expect((await broker.getAccount()).cash).toBe(usd(100_000 + cash))
    expect(await broker.getPositions()).toHaveLength(Object.keys(positions).length)
    const entries = control.activities().map(({ account: _, ...entry }) => entry)
    expect(keysOf(entries).sort()).toEqual(keysOf(alpacaExample(`activities-${name}`)).sort())
    const { booked } = await broker.getActivities(after)
    expect(booked).toHaveLength(entries.length)
    expect(await broker.getBookedEntries(after)).toEqual(booked)
    expect((await broker.getOrderByClientOrderId('open'))?.state).toBe('canceled')
  },
)

it('a split moves the price, and a dividend without a cent to withhold has no entry of it', async () => {
  const { control, broker } = await setUp()
  control.book({ type: 'forward_split', ...COMMON, newRate: '4', oldRate: '1' })
  expect((await broker.getSnapshots(['AAPL'])).get('AAPL')?.last).toBe(usd(50))
  control.book({ type: 'cash_dividend', ...COMMON, rate: '0.005', withholding: '0.15' })
  expect(control.activities().map(({ activity_type: type }) => type)).toEqual(['SPLIT', 'SPLIT', 'DIV'])
})
