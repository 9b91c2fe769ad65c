import { expect, it } from 'vitest'
import { reviewWords, waitWords } from '../../web/orders/review.js'
import { FEES } from '../support/brokerBooks.js'

const market = { fees: [...FEES] }
const order = { units: 1_000_000_000n, shares: 5_000_000_000n, price: 200_000_000n, isAll: false }
const ticket = { side: 'BUY', symbol: 'AAPL', unit: 'usdc' } as const

it.each([
  ['a buy', ticket, order, 'Buys about 5 AAPL at 200.00 now.'],
  ['a buy without a price', ticket, { ...order, price: null }, 'Buys AAPL for 1,000.00 USDC.'],
  [
    'a buy by shares',
    { ...ticket, unit: 'shares' } as const,
    order,
    '5 AAPL at 200.00 now come to 1,000.00 USDC. The order is for this amount: if the price changes before it is placed, so does the number of shares.',
  ],
  [
    'a sale, less its fees',
    { ...ticket, side: 'SELL' } as const,
    order,
    'Sells about 5 AAPL at 200.00 now. You receive about 999.98 USDC.',
  ],
  [
    'a sale of all',
    { ...ticket, side: 'SELL' } as const,
    { ...order, units: 1_010_000_000n, isAll: true },
    'Sells all your AAPL, 5 shares at 200.00 now. You receive about 999.98 USDC. The order is for up to 1,010.00 USDC. If they are worth more when it is placed, the rest stays.',
  ],
  [
    'a withdrawal of shares',
    { ...ticket, side: 'WITHDRAW' } as const,
    { ...order, units: 1_500_000_000n },
    'Moves 1.5 AAPL from your portfolio to this wallet.',
  ],
  [
    'a withdrawal of cash',
    { ...ticket, side: 'WITHDRAW', symbol: 'USDC' } as const,
    order,
    'Moves 1,000.00 USDC from your portfolio to this wallet.',
  ],
  [
    'a deposit of cash',
    { ...ticket, side: 'DEPOSIT', symbol: 'USDC' } as const,
    order,
    'Moves 1,000.00 USDC from this wallet to your portfolio.',
  ],
])('%s is reviewed in a sentence', (_what, of, given, words) => {
  expect(reviewWords(of, given, market)).toBe(words)
})

it('an order to trade says that it waits for the market, also while the market may be closed', () => {
  expect(waitWords('BUY', { isOpen: true })).toBeNull()
  expect(waitWords('SELL', { isOpen: false })).toBe('The order waits, sealed, until the market opens.')
  expect(waitWords('SELL', null)).toMatch(
    /^Market hours are unknown\. If the market is closed, the order waits/,
  )
  expect(waitWords('WITHDRAW', null)).toBeNull()
  expect(waitWords('DEPOSIT', { isOpen: false })).toBeNull()
})
