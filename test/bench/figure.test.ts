import { expect, test } from 'vitest'
import { linesOf, measure, ratio, type Table } from '../../bench/support/figure.js'

/** Rows whose numbers are their calls so far, in all. */
function counting(): { table: Table; order: string[] } {
  const order: string[] = []
  const turn = (row: string) => async (round: number) => {
    order.push(`${row}${round}`)
    return { 'a/s': order.length, 'least CPU': order.length, 'most failed': order.length }
  }
  return { order, table: { rows: { x: turn('x'), y: turn('y') }, bars: [], notes: [] } }
}

test('rows take turns, and the first round is not counted', async () => {
  const { table, order } = counting()
  const rounds = await measure(table, 2)
  expect(order).toEqual(['x0', 'y0', 'y1', 'x1', 'x2', 'y2'])
  expect(rounds.map((round) => [round.x?.['a/s'], round.y?.['a/s']])).toEqual([
    [4, 3],
    [5, 6],
  ])
})

test('a table has medians, the least and the most', async () => {
  const { table } = counting()
  const lines = linesOf(table, await measure(table, 2))
  expect(lines).toEqual([
    '      a/s  least CPU  most failed',
    '  x  4.50          4            5',
    '  y  4.50          3            6',
  ])
})

const ROUNDS = [1, 2, 9].map((x) => ({ x: { n: x }, y: { n: 2 } }))
const lastLine = (bar: Table['bars'][number]) =>
  linesOf({ rows: {}, bars: [bar], notes: [] }, ROUNDS)
    .at(-1)
    ?.trim()

test.each([
  [{}, 'n, x ÷ y: 1 (0.50..4.50)'],
  [{ atLeast: 1 }, 'n, x ÷ y: 1 (0.50..4.50), bar at least 1: met'],
  [{ atLeast: 1.1 }, 'n, x ÷ y: 1 (0.50..4.50), bar at least 1.1: missed'],
  [{ atMost: 1 }, 'n, x ÷ y: 1 (0.50..4.50), bar at most 1: met'],
  [{ atMost: 0.9 }, 'n, x ÷ y: 1 (0.50..4.50), bar at most 0.9: missed'],
])('the median is compared with the limit: %o', (limit, line) => {
  expect(lastLine({ ...ratio('n', 'x', 'y'), ...limit })).toBe(line)
})

test('a figure that was not measured is not judged', () => {
  expect(lastLine(ratio('n', 'x', 'z', { atLeast: 1 }))).toBe('n, x ÷ z: not judged')
})
