import { expect, it } from 'vitest'
import { orderPace } from '../../web/state/orders.js'

/** One page's share: an office of 500 shares 60,000. */
const MOST_PER_MINUTE = 500
const OPEN_AT_MOST = 20

it.each([1, 5, 6, 7, 20, 100])('%i orders shown keep to one page’s share of the rate', (shown) => {
  const questions = 2 * Math.min(shown, OPEN_AT_MOST)
  expect((questions * 60_000) / orderPace(shown)).toBeLessThan(MOST_PER_MINUTE)
})

it('a few orders are followed closely', () => expect(orderPace(5)).toBe(1_500))
