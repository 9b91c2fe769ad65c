import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTurnGroups } from '../../src/chain/rpc.js'

const LIMIT = 10

/** The groups of numbers that are handed in together, each as large as its value. */
async function groupsOf(numbers: readonly number[]): Promise<(readonly number[])[]> {
  const groups: (readonly number[])[] = []
  const gather = createTurnGroups<number>({ limit: LIMIT, sizeOf: (number) => number }, (group) => {
    groups.push(group)
  })
  for (const number of numbers) gather(number)
  await new Promise(setImmediate)
  return groups
}

const sum = (group: readonly number[]) => group.reduce((total, number) => total + number, 0)

test('all are handed on once and in order, in groups that can take no more', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1 }), async (numbers) => {
      const groups = await groupsOf(numbers)
      expect(groups.flat()).toEqual(numbers)
      for (const group of groups) if (group.length > 1) expect(sum(group)).toBeLessThanOrEqual(LIMIT)
      for (const [index, group] of groups.slice(1).entries()) {
        expect(sum(groups[index] ?? []) + (group[0] ?? 0)).toBeGreaterThan(LIMIT)
      }
    }),
  )
})

test('a number in another turn is in another group', async () => {
  const groups: string[] = []
  const gather = createTurnGroups<string>({ limit: LIMIT, sizeOf: () => 1 }, (group) => {
    groups.push(group.join(''))
  })
  gather('a')
  gather('b')
  await new Promise(setImmediate)
  gather('c')
  expect(groups).toEqual(['ab'])
  await new Promise(setImmediate)
  expect(groups).toEqual(['ab', 'c'])
})
