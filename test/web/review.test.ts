import { expect, it } from 'vitest'
import { feeWords, reviewWords, waitWords } from '../../web/orders/review.js'
import { FEES } from '../support/brokerBooks.js'
import { usd } from '../support/brokerStandIn.js'

const market = { fees: [...FEES] }
const order = {
  units: 1_000_000_000n,
  shares: 5_000_000_000n,
  price: usd(200) as bigint | null,
  limit: null as bigint | null,
  isAll: false,
}
const ticket = { side: 'BUY', symbol: 'AAPL', unit: 'usdc' } as const

it.each<[Partial<Parameters<typeof reviewWords>[0]>, Partial<typeof order>, string | RegExp]>([
  [{}, {}, 'Buys about 5 AAPL at 200.00 now.'],
  [{}, { limit: usd(200) }, 'Buys about 5 AAPL at 200.00 or less.'],
  [{ side: 'SELL' }, { limit: usd(200) }, /^Sells about 5 AAPL at 200\.00 or more\./],
  [{}, { price: null }, 'Buys AAPL for 1,000.00 USDC.'],
  [{ unit: 'shares' }, {}, /^5 AAPL at 200\.00 now come to 1,000\.00 USDC\. The order is for this amount/],
  [{ side: 'SELL' }, {}, 'Sells about 5 AAPL at 200.00 now. You receive about 999.98 USDC.'],
  [
    { side: 'SELL' },
    { units: 1_010_000_000n, isAll: true },
    /^Sells all your AAPL, 5 shares at 200\.00 now\. You receive about 999\.98 USDC\. .* up to 1,010\.00 USDC\./,
  ],
  [{ side: 'WITHDRAW' }, { units: 1_500_000_000n }, 'Moves 1.5 AAPL from your portfolio to this wallet.'],
  [{ side: 'DEPOSIT', symbol: 'USDC' }, {}, 'Moves 1,000.00 USDC from this wallet to your portfolio.'],
])('an order is reviewed in a sentence: %o %o', (side, change, words) => {
  expect(reviewWords({ ...ticket, ...side }, { ...order, ...change }, market)).toMatch(words)
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

it('a sale says that it pays fees while the amount or the price is not known', () => {
  const words = 'The broker’s fees (TAF, CAT) are deducted from the proceeds.'
  for (const unknown of [at(null, usd(200)), at(usd(10), null)])
    expect(feeWords('SELL', market, unknown)).toBe(words)
})

it('a purchase says who pays its fees, and an order without fees nothing', () => {
  expect(feeWords('BUY', market, at(usd(10), usd(200)))).toBe(
    'No fee now. When you sell, you pay the broker’s CAT fee for both trades.',
  )
  expect(feeWords('WITHDRAW', market, at(usd(10), null))).toBe('')
  for (const side of ['BUY', 'SELL'] as const)
    expect(feeWords(side, { fees: [] }, at(usd(10), usd(200)))).toBe('')
})
