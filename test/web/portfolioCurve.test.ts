import { expect, it } from 'vitest'
import { ONE_SHARE, ONE_USDC } from '../../src/protocol/units.js'
import { pricedOrders } from '../../web/state/orders.js'
import { curveOf } from '../../web/trade/portfolioCurve.js'
import { fillWords } from '../../web/words/timeline.js'
import { bought, carried, DAY, FROM, HASH, history, splitOf } from '../client/history/statementSetting.js'

const purchase = { ...bought(ONE_SHARE, 200n * ONE_USDC), price: 200n * ONE_USDC }
const split = carried({ ...splitOf(4n, 1n), recordAt: FROM + DAY / 2 }, { AAPL: 3n * ONE_SHARE })

it('the value over the last days goes on over a split, although bars are in the shares of after it', () => {
  const iso = (day: number) => new Date((FROM + day * DAY) * 1_000).toISOString()
  const bar = (day: number, usdc: bigint) => ({ at: iso(day), close: usdc * ONE_USDC })
  const bars = { symbol: 'AAPL', bars: [bar(0, 50n), bar(0.25, 51n), bar(0.75, 52n)] }
  const quote = { name: 'Apple', previousClose: null, bid: null, ask: null, asOf: null }
  const points = curveOf(
    history(purchase, split),
    { barSeconds: 0, symbols: [bars] },
    { symbols: [{ symbol: 'AAPL', price: 60n * ONE_USDC, ...quote }], asOf: iso(2) },
  )
  const days = points.map(({ at, price }) => `${(at / 1_000 - FROM) / DAY}: ${price / ONE_USDC}`)
  expect(days).toEqual(['0: 200', '0.25: 204', '0.75: 208', '1: 208', '2: 240'])
})

it('a fill from before a split is told with the price in the shares of today', () => {
  const write = { orderId: HASH, version: 1n }
  const rest = { kind: 'adjusted', ...write, sinceVersion: 0n, cash: 1n, shares: {} } as const
  const [words] = [...pricedOrders(history(purchase, rest)).values()].map(fillWords)
  expect(words).toBe('Bought 1 AAPL at 200.00, 200.00 USDC')
  const [later] = [...pricedOrders(history(purchase, rest, split)).values()].map(fillWords)
  expect(later).toBe('Bought 1 AAPL at 200.00 (50.00 in today’s shares), 200.00 USDC')
})
