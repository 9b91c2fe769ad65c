import { expect, it } from 'vitest'
import { feeWords } from '../../web/orders/review.js'
import { FEES } from '../support/brokerBooks.js'
import { usd } from '../support/brokerStandIn.js'

const market = { fees: [...FEES] }
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
