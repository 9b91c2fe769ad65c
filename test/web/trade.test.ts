import { expect, it } from 'vitest'
import { fillWords } from '../../web/words/timeline.js'

const bought = {
  side: 'BUY',
  symbol: 'AAPL',
  shares: 4_721_712_345n,
  price: 211_786_543n,
  value: 1_000_000_000n,
} as const

it.each([
  ['a buy', bought, 'Bought 4.7217 AAPL at 211.78, 1,000.00 USDC'],
  ['a sale', { ...bought, side: 'SELL' } as const, 'Sold 4.7217 AAPL at 211.78, 1,000.00 USDC'],
  ['a withdrawal', { ...bought, side: 'WITHDRAW' } as const, null],
  ['a deposit', { ...bought, side: 'DEPOSIT' } as const, null],
  ['an order without a fill', { ...bought, shares: null, price: null }, null],
  ['an order of unknown content', { ...bought, side: null, symbol: null }, null],
])('the fill of %s', (_what, summary, words) => expect(fillWords(summary)).toBe(words))
