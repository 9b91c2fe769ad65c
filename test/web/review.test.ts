import { expect, it } from 'vitest'
import { feeWords, reviewWords } from '../../web/orders/review.js'
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

it.each<[Parameters<typeof feeWords>[0], bigint | null, bigint | null, string | RegExp]>([
  // 30,000 shares: TAF 4.98, CAT 2 × 0.795, each rounded up to the cent.
  ['SELL', usd(6_000_000), usd(200), 'The broker’s fees (TAF, CAT) are about 6.57 USDC.'],
  ['SELL', usd(10), usd(200), /about 0\.02 USDC/],
  ['SELL', null, usd(200), 'The broker’s fees (TAF, CAT) are deducted from the proceeds.'],
  ['SELL', usd(10), null, 'The broker’s fees (TAF, CAT) are deducted from the proceeds.'],
  ['BUY', usd(10), usd(200), /^No fee now\. When you sell, you pay the broker’s CAT fee for both trades\.$/],
  ['WITHDRAW', usd(10), null, /^$/],
])('an order says what fees it pays before it is placed: %s for %s at %s', (side, amount, price, words) => {
  expect(feeWords(side, market, { amount, price })).toMatch(words)
  expect(feeWords(side, { fees: [] }, { amount, price })).toBe('')
})
