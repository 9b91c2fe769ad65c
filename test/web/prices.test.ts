import { expect, it } from 'vitest'
import { ageWords } from '../../web/words/clock.js'

const NOW = new Date(2030, 0, 2, 15, 4, 30).getTime()
const market = (ageSeconds: number, stale = true) => ({
  stale,
  asOf: new Date(NOW - ageSeconds * 1_000).toISOString(),
})

it.each([
  ['the server’s own pace', market(3), null],
  ['a broker that is away', market(30), 'Old prices, from 15:04:00'],
  ['a broker that has been away for a day', market(86_400), 'Old prices, from 1 Jan 2030, 15:04:30'],
  ['a clock of the visitor’s that is wrong', market(86_400, false), null],
])('with %s', (_why, given, words) => expect(ageWords(given, NOW, false)).toBe(words))

it('all prices are old while the server does not answer', () => {
  expect(ageWords(market(3, false), NOW, true)).toBe('Old prices, from 15:04:27')
})
