import { expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/client/index.js'
import { curveOf } from '../../web/trade/portfolioCurve.js'

const usd = (amount: number) => BigInt(amount) * 1_000_000n
const SHARE = 1_000_000_000n
const iso = (timestamp: number) => new Date(timestamp * 1_000).toISOString()
const HASH = `0x${'0a'.repeat(32)}` as const
const place = {
  ...{ orderId: HASH, version: 1n, txHash: HASH, isFinal: true },
  cursor: { blockNumber: 7, blockHash: HASH, logIndex: 0, part: 0 },
}
const bought = (timestamp: number, symbol: string): HistoryEntry => ({
  ...{ kind: 'bought', ...place, timestamp, symbol, shares: SHARE, price: usd(100) },
  ...{ amount: usd(100), cost: usd(100), escrowed: usd(100) },
})
const quote = (symbol: string, price: bigint | null) => ({
  ...{ symbol, name: symbol, price, previousClose: null, bid: null, ask: null, asOf: null },
})
const market = { symbols: [quote('AAPL', usd(150)), quote('MSFT', usd(60))], asOf: iso(4_000) }
const bar = (at: number, close: number) => ({ at: iso(at), close: usd(close) })
const bars = {
  barSeconds: 900,
  symbols: [
    { symbol: 'AAPL', bars: [0, 900, 1_800, 3_600].map((at, day) => bar(at, 100 + 10 * day)) },
    { symbol: 'MSFT', bars: [bar(900, 50)] },
  ],
}

it('values a portfolio at each bar and each trade since the first, and now', () => {
  const curve = curveOf([bought(1_000, 'AAPL'), bought(3_000, 'MSFT')], bars, market)
  // The last bar ends after now.
  expect(curve.map(({ at, price }) => [at / 1_000, price])).toEqual([
    [1_000, usd(100)],
    [1_800, usd(110)],
    [2_700, usd(120)],
    [3_000, usd(170)],
    [4_000, usd(210)],
  ])
  expect(curve.at(-1)?.percent).toBeCloseTo(110)
})

it('begins with the bars when the first trade is older, and leaves out what has no price', () => {
  const curve = curveOf([bought(100, 'AAPL'), bought(2_000, 'MUTE')], bars, market)
  expect(curve.map(({ at }) => at / 1_000)).toEqual([900, 1_800])
})

it('begins when there is something to value: a first order is in the escrow before', () => {
  const opened: HistoryEntry = {
    ...{ kind: 'opened', orderId: HASH, txHash: HASH, isFinal: true, cursor: place.cursor },
    ...{ timestamp: 1_000, escrowed: usd(100), deadline: 9_000 },
  }
  expect(curveOf([opened, bought(1_500, 'AAPL')], bars, market)[0]).toMatchObject({
    at: 1_500_000,
    percent: 0,
  })
  expect(curveOf([opened], bars, market)).toEqual([])
})
