import { expect, it, test } from 'vitest'
import { ageWords, clockWords } from '../../web/words/clock.js'

const now = Date.parse('2026-03-02T10:00:00Z')
const clock = (isOpen: boolean, at: string) => ({ isOpen, nextOpen: at, nextClose: at })

test.each([
  [true, '2026-03-02T13:12:00Z', 'closes in 3 h 12 min'],
  [false, '2026-03-02T10:12:59Z', 'opens in 12 min'],
  [false, '2026-03-04T14:00:00Z', 'opens in 2 d 4 h'],
  [false, '2026-03-02T10:00:59Z', 'opens in less than a minute'],
  [true, '2026-03-02T09:00:00Z', 'closes in less than a minute'],
])('the market that is open %s until %s', (isOpen, at, words) => {
  expect(clockWords(clock(isOpen, at), now)).toBe(words)
})

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
  ['a server that does not answer', market(3, false), 'Old prices, from 15:04:27', true],
])('prices show their age where they are old: %s', (_why, given, words, isAway = false) => {
  expect(ageWords(given, NOW, isAway)).toBe(words)
})
