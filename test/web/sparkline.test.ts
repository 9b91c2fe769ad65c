import { expect, test } from 'vitest'
import { pathOf, withPrices } from '../../web/trade/sparkline.js'

const quote = (price: bigint | null, previousClose: bigint | null = 90n) => [
  { symbol: 'AAPL', price, previousClose },
]

test('the chart begins with the close of the day before, and keeps what was seen', () => {
  const first = withPrices(new Map(), quote(100n))
  expect(first.get('AAPL')).toEqual([90n, 100n])
  expect(withPrices(first, quote(101n)).get('AAPL')).toEqual([90n, 100n, 101n])
  expect(withPrices(first, quote(null)).get('AAPL')).toEqual([90n, 100n])
  expect(first.get('AAPL')).toEqual([90n, 100n])
})

test('it does not grow for ever', () => {
  let seen = withPrices(new Map(), quote(1n))
  for (let price = 2n; price < 200n; price++) seen = withPrices(seen, quote(price))
  expect(seen.get('AAPL')).toHaveLength(60)
  expect(seen.get('AAPL')?.at(-1)).toBe(199n)
})

test('the highest price is at the top, the lowest at the bottom', () => {
  expect(pathOf([10n, 30n, 20n], 100, 20)).toBe('M0.0 20.0L50.0 0.0L100.0 10.0')
  expect(pathOf([10n, 10n], 100, 20)).toBe('M0.0 20.0L100.0 20.0')
  expect(pathOf([10n], 100, 20)).toBe('')
})
