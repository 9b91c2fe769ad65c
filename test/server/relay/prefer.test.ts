import { expect, test } from 'vitest'
import { waitPreference } from '../../../src/server/relay/router.js'

test.each([
  [undefined, 20_000],
  ['', 20_000],
  ['respond-async', 20_000],
  ['wait=0', 0],
  ['wait=5', 5_000],
  ['Wait = 5', 5_000],
  ['respond-async, wait=5', 5_000],
  ['wait=5, wait=1', 5_000],
  ['wait=60', 20_000],
  ['wait=1000000', 20_000],
  ['wait=9999999', 20_000],
  ['wait=-1', 20_000],
  ['wait=1.5', 20_000],
  ['wait=', 20_000],
  ['waiter=1', 20_000],
])('Prefer: %s is a wait of %i ms', (header, ms) => {
  expect(waitPreference(header, 20_000)).toBe(ms)
})
