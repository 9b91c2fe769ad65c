import { expect, it } from 'vitest'
import type { Hex, OrderRequest, Portfolio } from '../../src/client/index.js'
import { NO_ORDERS, withOpenOrders, withPlaced } from '../../web/orders/orderMemory.js'

const idOf = (digit: string): Hex => `0x${digit.repeat(64)}`
const request: OrderRequest = { side: 'BUY', symbol: 'AAPL', maxSpend: 5n, deadline: 1 }
const openOrders: Portfolio['openOrders'] = {
  [idOf('a')]: {
    ...{ side: 'SELL', symbol: 'MSFT', notional: 7n, escrow: 0n },
    ...{ locked: 3n, brokerOrderId: '', placedAt: 1 },
  },
}

it('the order that was placed last comes first, once', () => {
  const two = withPlaced(withPlaced(NO_ORDERS, idOf('a'), request), idOf('b'), request)
  expect(two.placed).toEqual([idOf('b'), idOf('a')])
  expect(withPlaced(two, idOf('a'), request).placed).toEqual([idOf('a'), idOf('b')])
})

it('the portfolio’s open orders are remembered when they have ended', () => {
  const seen = withOpenOrders(NO_ORDERS, openOrders)
  expect(seen.ordered.get(idOf('a'))).toEqual({ side: 'SELL', symbol: 'MSFT', maxSpend: 7n })
  expect(seen.placed).toEqual([])
  expect(withOpenOrders(seen, {})).toBe(seen)
})

it('the page’s own orders are known better', () => {
  const placed = withPlaced(NO_ORDERS, idOf('a'), request)
  expect(withOpenOrders(placed, openOrders)).toBe(placed)
})
