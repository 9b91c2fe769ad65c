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
