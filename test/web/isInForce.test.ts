import { expect, it } from 'vitest'
import { isInForce } from '../../web/state/rulebookWork.js'

it.each([
  [null, 0, false],
  [null, 3, false],
  [3, 2, true],
  [3, 3, true],
  [3, 4, false],
])('of the published version %s, when %s was read, it is said to be in force: %s', (published, read, is) => {
  expect(isInForce(published, read)).toBe(is)
})
