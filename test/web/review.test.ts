import { expect, it } from 'vitest'
import { feeWords, reviewWords, waitWords } from '../../web/orders/review.js'
import { FEES } from '../support/brokerBooks.js'
import { usd } from '../support/brokerStandIn.js'

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

const at = (amount: bigint | null, price: bigint | null) => ({ amount, price })

it('a sale shows its fees before it is placed', () => {
  // 30,000 shares: TAF 4.98, CAT 2 × 0.795, each rounded up to the cent.
  expect(feeWords('SELL', market, at(usd(6_000_000), usd(200)))).toBe(
    'The broker’s fees (TAF, CAT) are about 6.57 USDC.',
  )
  expect(feeWords('SELL', market, at(usd(10), usd(200)))).toContain('about 0.02 USDC')
})

it('and that it pays, while the amount or the price is not known', () => {
  const words = 'The broker’s fees (TAF, CAT) are deducted from the proceeds.'
  expect(feeWords('SELL', market, at(null, usd(200)))).toBe(words)
  expect(feeWords('SELL', market, at(usd(10), null))).toBe(words)
})

it('a purchase shows who pays its fees', () => {
  expect(feeWords('BUY', market, at(usd(10), usd(200)))).toBe(
    'No fee now. When you sell, you pay the broker’s CAT fee for both trades.',
  )
})

it('nothing is said where nothing is paid', () => {
  expect(feeWords('WITHDRAW', market, at(usd(10), null))).toBe('')
  for (const side of ['BUY', 'SELL'] as const)
    expect(feeWords(side, { fees: [] }, at(usd(10), usd(200)))).toBe('')
})
