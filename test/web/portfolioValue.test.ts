import { describe, expect, test } from 'vitest'
import type { Holdings } from '../../src/client/history.js'
import { valuationOf } from '../../web/trade/portfolioValue.js'

const symbol = (name: string, price: bigint | null) => ({
  ...{ symbol: name, name, price, previousClose: null, bid: null, ask: null, asOf: null },
})
const unknown = { average: null, cost: null, gain: null }
const SHARE = 1_000_000_000n

test('a portfolio is worth its cash and all that has a price', () => {
  const [two, one] = [
    { qty: 2n * SHARE, locked: SHARE / 2n },
    { qty: SHARE, locked: 0n },
  ]
  const portfolio = { cash: 10_000_000n, positions: { MUTE: one, AAPL: two }, openOrders: {} }
  expect(valuationOf(portfolio, [symbol('AAPL', 200_000_000n), symbol('MUTE', null)], null)).toEqual({
    ...{ cash: 10_000_000n, inOrders: 0n, gains: null, total: 410_000_000n, unpriced: ['MUTE'] },
    holdings: [
      { symbol: 'AAPL', ...two, value: 400_000_000n, ...unknown },
      { symbol: 'MUTE', ...one, value: null, ...unknown },
    ],
  })
})

test('money in open buys is counted apart from the cash, wherever it lies', () => {
  const open = { symbol: 'AAPL', locked: 0n, brokerOrderId: '', placedAt: 0 }
  const openOrders = {
    [`0x${'01'.repeat(32)}`]: { ...open, side: 'BUY', notional: 4_000_000n, escrow: 4_000_000n },
    [`0x${'02'.repeat(32)}`]: { ...open, side: 'BUY', notional: 3_000_000n, escrow: 0n },
    [`0x${'03'.repeat(32)}`]: { ...open, side: 'SELL', notional: 9_000_000n, escrow: 0n, locked: 1n },
  } as const
  expect(valuationOf({ cash: 10_000_000n, positions: {}, openOrders }, [], null)).toMatchObject({
    ...{ cash: 7_000_000n, inOrders: 7_000_000n, total: 14_000_000n },
  })
})

describe('the gain of a portfolio', () => {
  const market = [symbol('AAPL', 200_000_000n), symbol('MSFT', 400_000_000n)]
  const two = {
    ...{ cash: 0n, openOrders: {} },
    positions: { AAPL: { qty: 2_000_000_000n, locked: 0n }, MSFT: { qty: 1_500_000_000n, locked: 0n } },
  }
  const held: Holdings = {
    ...{ cash: 0n, paidIn: 0n, paidOut: 0n, isComplete: true },
    positions: {
      AAPL: { shares: 2_000_000_000n, cost: 380_000_000n },
      MSFT: { shares: 1_500_000_000n, cost: 630_000_000n },
    },
    realised: { AAPL: 5_000_000n, GONE: -1_000_000n },
    dividends: { AAPL: 2_000_000n },
  }

  test('is that of each holding over its cost, of all sales, and of dividends', () => {
    const { holdings, gains } = valuationOf(two, market, held)
    expect(holdings).toMatchObject([
      { average: 190_000_000n, cost: 380_000_000n, gain: 20_000_000n },
      { average: 420_000_000n, cost: 630_000_000n, gain: -30_000_000n },
    ])
    expect(gains).toEqual({ unrealised: -10_000_000n, realised: 4_000_000n, dividends: 2_000_000n })
  })

  test('is unknown where a cost or a price is, or the history has other shares', () => {
    expect(valuationOf(two, market, { ...held, isComplete: false }).gains).toBeNull()
    expect(valuationOf(two, market.slice(1), held).gains).toBeNull()
    const behind = { ...held, positions: { ...held.positions, AAPL: { shares: 1n, cost: 1n } } }
    const { holdings, gains } = valuationOf(two, market, behind)
    expect(holdings).toMatchObject([unknown, { gain: -30_000_000n }])
    expect(gains).toBeNull()
  })
})
