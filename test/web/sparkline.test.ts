import { expect, test } from 'vitest'
import { chartedPrices, pathOf, type Seen, withPrices } from '../../web/trade/sparkline.js'

const quote = (price: bigint | null, previousClose: bigint | null = 90n) => [
  { symbol: 'AAPL', price, previousClose },
]
const charted = (seen: Seen) => chartedPrices(seen.get('AAPL'))

test('the chart begins with the close of the day before, and keeps what was seen', () => {
  const first = withPrices(new Map(), quote(100n))
  expect(charted(first)).toEqual([90n, 100n])
  expect(charted(withPrices(first, quote(101n)))).toEqual([90n, 100n, 101n])
  expect(charted(withPrices(first, quote(null)))).toEqual([90n, 100n])
  expect(charted(first)).toEqual([90n, 100n])
  expect(charted(new Map())).toEqual([])
})

test('it goes without an unknown close', () => {
  expect(charted(withPrices(new Map(), quote(100n, null)))).toEqual([100n])
})

test('another close begins another day', () => {
  const before = withPrices(new Map(), quote(100n))
  expect(charted(withPrices(before, quote(101n, 100n)))).toEqual([100n, 101n])
  expect(charted(withPrices(before, quote(101n, null)))).toEqual([90n, 100n, 101n])
})

test('it does not grow for ever, and goes from the close through all of the time to the last price', () => {
  let seen: Seen = new Map()
  for (let price = 1n; price <= 5_000n; price++) {
    seen = withPrices(seen, quote(price, 0n))
    expect(charted(seen).at(-1)).toBe(price)
    expect(charted(seen).length).toBeLessThanOrEqual(62)
  }
  const [close, ...prices] = charted(seen)
  expect(close).toBe(0n)
  const steps = prices.slice(0, -1).map((price, index) => price - (prices[index - 1] ?? -127n))
  expect(new Set(steps)).toEqual(new Set([128n]))
  expect(prices.length).toBeGreaterThan(30)
})

test('the highest price is at the top, the lowest at the bottom', () => {
  expect(pathOf([10n, 30n, 20n], 100, 20)).toBe('M0.0 20.0L50.0 0.0L100.0 10.0')
  expect(pathOf([10n, 10n], 100, 20)).toBe('M0.0 20.0L100.0 20.0')
  expect(pathOf([10n], 100, 20)).toBe('')
})
