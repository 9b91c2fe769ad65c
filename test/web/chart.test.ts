import { describe, expect, it } from 'vitest'
import { daysOf, type Point, pathOf, placeOf, pointsOf, scaleOf, sessionOf } from '../../web/trade/chart.js'

const usd = (price: number) => BigInt(Math.round(price * 1_000_000))
const at = (day: number, hour: number) => Date.UTC(2026, 2, day, hour)
const point = (time: number, percent: number): Point => ({ at: time, percent, price: usd(100 + percent) })
const BOX = { width: 100, height: 40 }

describe('the points of a chart', () => {
  const quote = { symbol: 'AAPL', price: usd(102), previousClose: usd(100), asOf: null }
  const bar = (time: number, close: number) => ({ at: new Date(time).toISOString(), close: usd(close) })
  const bars = {
    barSeconds: 900,
    symbols: [
      { symbol: 'MSFT', bars: [bar(at(2, 14), 7)] },
      { symbol: 'AAPL', bars: [bar(at(2, 14), 99), bar(at(2, 15), 101)] },
    ],
  }
  const asOf = new Date(at(2, 15) + 60_000).toISOString()

  it('are the ends of its bars, and the last trade in place of its own bar', () => {
    const points = pointsOf(quote, bars, asOf)
    expect(points.map((one) => one.at)).toEqual([at(2, 14) + 900_000, at(2, 15) + 60_000])
    expect(points.map(({ price }) => price)).toEqual([usd(99), usd(102)])
    expect(points.map(({ percent }) => percent)).toEqual([expect.closeTo(-1), expect.closeTo(2)])
  })

  it('are only what is known', () => {
    expect(pointsOf({ ...quote, price: null }, null, asOf)).toEqual([])
    expect(pointsOf({ ...quote, previousClose: null }, null, asOf)).toMatchObject([{ percent: 0 }])
  })
})

it('a session begins after the last long pause, and no line joins two', () => {
  const points = [point(at(2, 20), 2), point(at(3, 14), 3), point(at(3, 15), 4)]
  expect(sessionOf(points)).toEqual(points.slice(1))
  const two = [point(at(2, 15), 1), point(at(2, 16), 2), point(at(3, 15), 3), point(at(3, 16), 4)]
  expect(pathOf(two, scaleOf([two]), BOX).replace(/[^ML]/g, '')).toBe('MLML')
  expect(daysOf(two)).toEqual([two[2]])
})

it('a scale is one for all charts, has the previous close in it, and places points by their time', () => {
  const [quiet, wild] = [
    [point(0, 0.1), point(60, 0.2)],
    [point(30, -2), point(120, 3)],
  ]
  const scale = scaleOf([quiet, wild])
  expect(scale).toEqual({ from: 0, to: 120, low: -2, high: 3 })
  expect(scaleOf([[point(0, 1), point(9, 2)]])).toMatchObject({ low: 0, high: 2 })
  // A quiet day does not look wild.
  const { low, high } = scaleOf([quiet])
  expect(high - low).toBeCloseTo(0.5)
  expect(placeOf({ at: 120, percent: 3 }, scale, BOX)).toEqual({ x: 100, y: 0 })
  expect(pathOf(wild, scale, BOX)).toBe('M25.0 40.0L100.0 0.0')
  expect(pathOf(quiet.slice(1), scale, BOX)).toBe('')
})
