import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type EntryBody, effectOf, NO_BALANCE, plus } from '../../../src/client/history/entries.js'
import {
  averageCost,
  holdingsOf,
  saleFees,
  unrealisedGain,
  valueAt,
  valueOverTime,
} from '../../../src/client/history.js'
import { feeScheduleText, feesOfSale } from '../../../src/protocol/fees.js'
import { ONE_CENT, ONE_SHARE, ONE_USDC, toCents } from '../../../src/protocol/units.js'
import { bought, carried, DAY, FROM, HASH, history, sold, splitOf } from './statementSetting.js'

const anyAmount = fc.bigInt({ min: 1n, max: 10_000n * ONE_USDC })
const anyShares = fc.bigInt({ min: 1n, max: 1_000n * ONE_SHARE })
const at = { orderId: HASH, version: 1n }

/** Trades of an account that never sells or withdraws more than it has. */
const anyHistory = fc
  .array(
    fc.record({
      does: fc.constantFrom('buy', 'buyFromCash', 'sell', 'takeCash', 'takeShares', 'give'),
      symbol: fc.constantFrom('AAPL', 'MSFT', 'TSLA'),
      shares: anyShares,
      amount: anyAmount,
      rest: fc.bigInt({ min: 0n, max: ONE_USDC }),
    }),
    { maxLength: 40 },
  )
  .map((wishes) => {
    const entries: EntryBody[] = []
    let balance = NO_BALANCE
    for (const { does, symbol, shares, amount, rest } of wishes) {
      const held = balance.shares[symbol] ?? 0n
      const [some, cash] = [shares < held ? shares : held, amount < balance.cash ? amount : balance.cash]
      const bodies: Record<typeof does, EntryBody | false> = {
        buy: bought(shares, amount, symbol, amount + rest),
        buyFromCash: cash > 0n && bought(shares, cash, symbol, 0n),
        sell: some > 0n && sold(some, amount, symbol),
        takeCash: cash > 0n && { kind: 'cash-withdrawn', ...at, usdc: cash },
        takeShares: some > 0n && { kind: 'shares-withdrawn', ...at, symbol, shares: some },
        give: { kind: 'cash-deposited', ...at, usdc: amount },
      }
      const body = bodies[does]
      if (body === false) continue
      balance = plus(balance, effectOf(body))
      entries.push(body)
    }
    return { entries: history(...entries), balance }
  })
const anyPrices = fc.record({ AAPL: anyAmount, MSFT: anyAmount, TSLA: anyAmount })

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)

it('holdings are the balance of the entries, and lose no unit: money in and gains are cash, cost and money out', () => {
  fc.assert(
    fc.property(anyHistory, anyPrices, ({ entries, balance }, prices) => {
      const holdings = holdingsOf(entries)
      const { cash, positions, realised, paidIn, paidOut, isComplete } = holdings
      expect(isComplete).toBe(true)
      const shares = Object.entries(positions).map(([symbol, holding]) => [symbol, holding.shares])
      expect({ cash, shares: Object.fromEntries(shares) }).toEqual(balance)
      const costs = Object.values(positions).map(({ cost }) => cost ?? -1n)
      for (const cost of costs) expect(cost).toBeGreaterThanOrEqual(0n)
      expect(cash + sum(costs) + paidOut).toBe(paidIn + sum(Object.values(realised)))
      // At any prices they gain what was realised and what is not.
      const [point] = valueOverTime(entries, [{ timestamp: FROM + entries.length * DAY, prices }])
      const open = Object.entries(positions).map(
        ([symbol, holding]) => unrealisedGain(holding, prices[symbol as keyof typeof prices]) ?? 0n,
      )
      expect(point?.value).toBe(valueAt(holdings, prices))
      expect(point?.gain).toBe(sum(open) + sum(Object.values(realised)))
    }),
  )
})

it('holdings of an unknown cost say so until those shares are gone', () => {
  const given: EntryBody = { kind: 'shares-deposited', ...at, symbol: 'AAPL', shares: ONE_SHARE }
  const mixed = [given, bought(ONE_SHARE, 100n * ONE_USDC)]
  const holdings = holdingsOf(history(...mixed))
  expect(holdings).toMatchObject({ isComplete: false, positions: { AAPL: { cost: null } } })
  const unknown = { shares: ONE_SHARE, cost: null }
  expect([averageCost(unknown), unrealisedGain(unknown, 1n)]).toEqual([null, null])
  const after = history(...mixed, sold(ONE_SHARE, ONE_USDC))
  expect(holdingsOf(after).positions.AAPL?.cost).toBe(100n * ONE_USDC)
  const position = { shares: 2n * ONE_SHARE, cost: 300n * ONE_USDC }
  expect([averageCost(position), unrealisedGain(position, ONE_USDC)]).toEqual([
    150n * ONE_USDC,
    -298n * ONE_USDC,
  ])
})

it('the value over time takes the entries up to each time, a split from its record moment on, and has none without a price', () => {
  const split = { ...splitOf(2n, 1n), recordAt: FROM + DAY }
  const entries = history(
    bought(ONE_SHARE, 100n * ONE_USDC),
    bought(ONE_SHARE, 10n * ONE_USDC, 'MSFT'),
    carried(split, { AAPL: ONE_SHARE }),
    sold(2n * ONE_SHARE, 90n * ONE_USDC),
  )
  const whole = { AAPL: 110n * ONE_USDC }
  const halved = { AAPL: 55n * ONE_USDC, MSFT: 10n * ONE_USDC }
  const points = valueOverTime(entries, [
    { timestamp: FROM - 1, prices: {} },
    { timestamp: FROM, prices: whole },
    { timestamp: FROM, prices: {} },
    { timestamp: FROM + DAY - 1, prices: whole },
    { timestamp: FROM + DAY, prices: halved },
    { timestamp: FROM + 5 * DAY, prices: halved },
  ])
  const usdc = (value: bigint | null | undefined) => (typeof value === 'bigint' ? value / ONE_USDC : value)
  expect(points.map(({ value }) => usdc(value))).toEqual([0n, 110n, null, 110n, 120n, 100n])
  expect(points.map(({ gain }) => usdc(gain))).toEqual([0n, 10n, null, 10n, 10n, -10n])
})

const perShare = feeScheduleText.parse('TAF:0.000166/share:max=8.30,CAT:0.0000265/share:both')

it('the fees of a sale by share are found for every sale that they do not use up', () => {
  fc.assert(
    fc.property(anyShares, fc.bigInt({ min: 20n * ONE_USDC, max: 10_000n * ONE_USDC }), (shares, exact) => {
      const gross = toCents(exact, 'down')
      const fees = feesOfSale(perShare, shares, exact)
      expect(saleFees({ shares, proceeds: gross - fees }, perShare)).toEqual({ gross, fees })
    }),
  )
})

it.each([
  ['nothing is left', 0n, perShare],
  ['no amount fits', ONE_CENT + 1n, perShare],
  ['the schedule takes all', ONE_USDC, feeScheduleText.parse('ALL:2/usd')],
])('the fees of a sale are unknown where %s', (_, proceeds, schedule) => {
  expect(saleFees({ shares: ONE_SHARE, proceeds }, schedule)).toBeNull()
})
