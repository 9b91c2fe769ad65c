import { expect, test } from 'vitest'
import { createReaders } from '../../../src/server/http/clients.js'

test('the reads of a client that cause more than 60 calls of a node a second have to wait; those of others do not', () => {
  let now = 0
  const readers = createReaders(() => now)
  const ask = (client: string, calls: number) => readers.answer(client, () => readers.charge(calls))
  for (let n = 0; n < 500; n++) ask('office', 2)
  expect(readers.waitMs('office')).toBeCloseTo(0)
  // The first thousand calls are free; these 600 are ten seconds' worth.
  ask('office', 600)
  expect([readers.waitMs('office'), readers.waitMs('another')]).toEqual([expect.closeTo(10_000), 0])
  now += 10_001
  expect(readers.waitMs('office')).toBe(0)
})

test('a read that all clients share costs none of them', () => {
  const readers = createReaders(() => 0)
  readers.answer('office', () => readers.shared(() => readers.charge(5_000)))
  expect(readers.waitMs('office')).toBe(0)
})
