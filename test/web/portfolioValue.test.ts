import { expect, test } from 'vitest'
import { valuationOf } from '../../web/trade/portfolioValue.js'

const symbol = (name: string, price: bigint | null) => ({
  ...{ symbol: name, name, price, previousClose: null, bid: null, ask: null, asOf: null },
})
const portfolio = {
  cash: 10_000_000n,
  positions: {
    MSFT: { qty: 1_500_000_000n, locked: 0n },
    AAPL: { qty: 2_000_000_000n, locked: 500_000_000n },
    GONE: { qty: 1_000_000_000n, locked: 0n },
    MUTE: { qty: 1_000_000_000n, locked: 0n },
  },
  openOrders: {},
  nonce: 1,
  userPubKey: '0x00' as const,
}

test('a portfolio is worth its cash and all that has a price', () => {
  const market = [symbol('AAPL', 200_000_000n), symbol('MSFT', 400_000_000n), symbol('MUTE', null)]
  expect(valuationOf(portfolio, market)).toEqual({
    cash: 10_000_000n,
    inOrders: 0n,
    total: 1_010_000_000n,
    unpriced: ['GONE', 'MUTE'],
    holdings: [
      { symbol: 'AAPL', qty: 2_000_000_000n, locked: 500_000_000n, value: 400_000_000n },
      { symbol: 'GONE', qty: 1_000_000_000n, locked: 0n, value: null },
      { symbol: 'MSFT', qty: 1_500_000_000n, locked: 0n, value: 600_000_000n },
      { symbol: 'MUTE', qty: 1_000_000_000n, locked: 0n, value: null },
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
  expect(valuationOf({ cash: 10_000_000n, positions: {}, openOrders }, [])).toMatchObject({
    ...{ cash: 7_000_000n, inOrders: 7_000_000n, total: 14_000_000n },
  })
})
