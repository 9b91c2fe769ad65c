import { expect, test } from 'vitest'
import { clockWords } from '../../web/words/clock.js'

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
