import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type EntryBody, effectOf, NO_BALANCE, plus } from '../../../src/client/history/entries.js'
import {
  averageCost,
  type HistoryEntry,
  holdingsOf,
  saleFees,
  unrealisedGain,
  valueAt,
  valueOverTime,
} from '../../../src/client/history.js'
import { feeScheduleText, feesOfSale } from '../../../src/protocol/fees.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { notionalOf, ONE_CENT, ONE_SHARE, ONE_USDC, toCents } from '../../../src/protocol/units.js'

const HASH: Hex = `0x${'01'.repeat(32)}`
const SYMBOLS = ['AAPL', 'MSFT', 'TSLA'] as const

function entry(body: EntryBody, index = 0): HistoryEntry {
  const cursor = { blockNumber: index, blockHash: HASH, logIndex: 0, part: 0 }
  return { ...body, timestamp: index, txHash: HASH, isFinal: true, cursor }
}
const at = { orderId: HASH, version: 1n, price: null }
const bought = (symbol: string, shares: bigint, cost: bigint, escrowed = cost): EntryBody => ({
  ...{ kind: 'bought', ...at, symbol, shares, cost, escrowed, usdc: escrowed },
})
const sold = (symbol: string, shares: bigint, proceeds: bigint): EntryBody => ({
  ...{ kind: 'sold', ...at, symbol, shares, proceeds, usdc: proceeds },
})

const anySymbol = fc.constantFrom(...SYMBOLS)
const anyAmount = fc.bigInt({ min: 1n, max: 10_000n * ONE_USDC })
const anyShares = fc.bigInt({ min: 1n, max: 1_000n * ONE_SHARE })

/** Trades of an account that never sells or withdraws more than it has. */
const anyHistory = fc
  .array(
    fc.record({
      does: fc.constantFrom('buy', 'buyFromCash', 'sell', 'takeCash', 'takeShares', 'give'),
      symbol: anySymbol,
      shares: anyShares,
      amount: anyAmount,
      rest: fc.bigInt({ min: 0n, max: ONE_USDC }),
    }),
    { maxLength: 40 },
  )
  .map((wishes) => {
    const entries: HistoryEntry[] = []
    let balance = NO_BALANCE
    for (const { does, symbol, shares, amount, rest } of wishes) {
      const held = balance.shares[symbol] ?? 0n
      const [some, cash] = [shares < held ? shares : held, amount < balance.cash ? amount : balance.cash]
      const bodies: Record<typeof does, EntryBody | null> = {
        buy: bought(symbol, shares, amount, amount + rest),
        buyFromCash: cash > 0n ? bought(symbol, shares, cash, 0n) : null,
        sell: some > 0n ? sold(symbol, some, amount) : null,
        takeCash: cash > 0n ? { kind: 'cash-withdrawn', orderId: HASH, version: 1n, usdc: cash } : null,
        takeShares:
          some > 0n ? { kind: 'shares-withdrawn', orderId: HASH, version: 1n, symbol, shares: some } : null,
        give: { kind: 'cash-deposited', orderId: HASH, version: 1n, usdc: amount },
      }
      const body = bodies[does]
      if (body === null) continue
      balance = plus(balance, effectOf(body))
      entries.push(entry(body, entries.length))
    }
    return { entries, balance }
  })
const anyPrices = fc.record({ AAPL: anyAmount, MSFT: anyAmount, TSLA: anyAmount })

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)

it('holdings are the balance of the entries, and no share costs less than nothing', () => {
  fc.assert(
    fc.property(anyHistory, ({ entries, balance }) => {
      const { cash, positions, isComplete } = holdingsOf(entries)
      expect(isComplete).toBe(true)
      const shares = Object.entries(positions).map(([symbol, holding]) => [symbol, holding.shares])
      expect({ cash, shares: Object.fromEntries(shares) }).toEqual(balance)
      for (const { cost } of Object.values(positions)) expect(cost).toBeGreaterThanOrEqual(0n)
    }),
  )
})

it('holdings lose no unit: money in and gains are cash, cost and money out', () => {
  fc.assert(
    fc.property(anyHistory, ({ entries }) => {
      const { cash, positions, realised, paidIn, paidOut } = holdingsOf(entries)
      const costs = Object.values(positions).map(({ cost }) => cost ?? 0n)
      expect(cash + sum(costs) + paidOut).toBe(paidIn + sum(Object.values(realised)))
    }),
  )
})

it('holdings at any prices gain what was realised and what is not', () => {
  fc.assert(
    fc.property(anyHistory, anyPrices, ({ entries }, prices) => {
      const [point] = valueOverTime(entries, [{ timestamp: entries.length, prices }])
      const holdings = holdingsOf(entries)
      const open = Object.entries(holdings.positions).map(
        ([symbol, holding]) => unrealisedGain(holding, prices[symbol as keyof typeof prices]) ?? 0n,
      )
      expect(point?.value).toBe(valueAt(holdings, prices))
      expect(point?.gain).toBe(sum(open) + sum(Object.values(holdings.realised)))
    }),
  )
})

it('holdings by an example: of two lots a sale of half takes the first', () => {
  const bodies = [
    bought('AAPL', 2n * ONE_SHARE, 200n * ONE_USDC, 201n * ONE_USDC),
    bought('AAPL', 2n * ONE_SHARE, 300n * ONE_USDC),
    sold('AAPL', 2n * ONE_SHARE, 280n * ONE_USDC),
  ]
  const holdings = holdingsOf(bodies.map(entry))
  expect(holdings.positions.AAPL).toEqual({ shares: 2n * ONE_SHARE, cost: 300n * ONE_USDC })
  expect(holdings.realised).toEqual({ AAPL: 80n * ONE_USDC })
  expect(holdings.cash).toBe(281n * ONE_USDC)
  const position = holdings.positions.AAPL
  if (!position) throw new Error('no position')
  expect(averageCost(position)).toBe(150n * ONE_USDC)
  expect(unrealisedGain(position, 120n * ONE_USDC)).toBe(-60n * ONE_USDC)
})

it('holdings of an unknown cost say so until those shares are gone', () => {
  const given: EntryBody = {
    ...{ kind: 'shares-deposited', orderId: HASH, version: 1n, symbol: 'AAPL', shares: ONE_SHARE },
  }
  const mixed = [given, bought('AAPL', ONE_SHARE, 100n * ONE_USDC)]
  const holdings = holdingsOf(mixed.map(entry))
  expect(holdings).toMatchObject({ isComplete: false, positions: { AAPL: { cost: null } } })
  expect(averageCost({ shares: ONE_SHARE, cost: null })).toBeNull()
  expect(unrealisedGain({ shares: ONE_SHARE, cost: null }, 1n)).toBeNull()
  const after = [...mixed, sold('AAPL', ONE_SHARE, ONE_USDC)]
  expect(holdingsOf(after.map(entry)).positions.AAPL?.cost).toBe(100n * ONE_USDC)
})

it('the value over time takes the entries up to each time, and has none without a price', () => {
  const entries = [bought('AAPL', ONE_SHARE, 100n * ONE_USDC), sold('AAPL', ONE_SHARE, 90n * ONE_USDC)].map(
    entry,
  )
  const price = 110n * ONE_USDC
  const points = valueOverTime(entries, [
    { timestamp: -1, prices: {} },
    { timestamp: 0, prices: { AAPL: price } },
    { timestamp: 0, prices: {} },
    { timestamp: 5, prices: {} },
  ])
  expect(points.map(({ value }) => value)).toEqual([0n, price, null, 90n * ONE_USDC])
  expect(points.map(({ gain }) => gain)).toEqual([0n, 10n * ONE_USDC, null, -10n * ONE_USDC])
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

it('the fees of a sale are unknown where nothing is left, no amount fits, or the schedule takes all', () => {
  expect(saleFees({ shares: ONE_SHARE, proceeds: 0n }, perShare)).toBeNull()
  expect(saleFees({ shares: ONE_SHARE, proceeds: ONE_CENT + 1n }, perShare)).toBeNull()
  const absurd = feeScheduleText.parse('ALL:2/usd')
  expect(saleFees({ shares: ONE_SHARE, proceeds: ONE_USDC }, absurd)).toBeNull()
  expect(notionalOf(ONE_SHARE, ONE_USDC, 'down')).toBe(ONE_USDC)
})
