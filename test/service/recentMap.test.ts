import { expect, test } from 'vitest'
import { createRecentMap } from '../../src/service/recentMap.js'

test('forgets the entry set longest ago when it is full', () => {
  const map = createRecentMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  map.set('c', 4)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4])
})

test('keeps the others when an entry is set again', () => {
  const map = createRecentMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.set('b', 3)
  expect([map.get('a'), map.get('b')]).toEqual([1, 3])
})
