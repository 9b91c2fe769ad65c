import { expect, it } from 'vitest'
import { readingWords } from '../../web/words/reading.js'

const span = { from: 101, to: 1_100 }

it.each([
  [null, 'Reading the members…'],
  [{ read: null, span }, 'Reading the members…'],
  [
    { read: { from: 651, to: 1_100 }, span },
    'Reading the members: 3,120 so far, 45 % of the chain’s blocks…',
  ],
  [
    { read: { from: 102, to: 1_100 }, span },
    'Reading the members: 3,120 so far, 99 % of the chain’s blocks…',
  ],
  [{ read: { from: 101, to: 1_100 }, span }, 'Looking for new members…'],
])('a list with %o read says: %s', (listing, words) => {
  expect(readingWords('members', 3_120, listing)).toBe(words)
})
