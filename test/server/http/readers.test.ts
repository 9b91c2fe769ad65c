import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createReaders } from '../../../src/server/http/readers.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Readers, and the requests of each client that have begun. */
function setUp() {
  const readers = createReaders()
  const begun: string[] = []
  return {
    readers,
    begun,
    ask(client: string, calls: number, { isRead = true, res = new EventEmitter() } = {}) {
      readers.answer(client, isRead, res as ServerResponse, () => {
        begun.push(client)
        readers.charge(calls)
      })
    },
  }
}

test('a client whose reads cause more than 60 calls of a node a second waits with its next read; others do not', () => {
  const { ask, begun } = setUp()
  for (let n = 0; n < 499; n++) ask('office', 2)
  expect(begun).toHaveLength(499)
  // The first thousand calls are free; these 600 are nearly ten seconds' worth.
  ask('office', 600)
  ask('office', 1)
  ask('another', 1)
  ask('office', 0, { isRead: false })
  expect(begun.slice(500)).toEqual(['another', 'office'])
  vi.advanceTimersByTime(9_900)
  expect(begun).toHaveLength(502)
  vi.advanceTimersByTime(200)
  expect(begun.slice(502)).toEqual(['office'])
})

test('a read whose client hangs up while it waits never begins', () => {
  const { ask, begun } = setUp()
  const res = new EventEmitter()
  ask('office', 2_000)
  ask('office', 1, { res })
  res.emit('close')
  vi.advanceTimersByTime(60_000)
  expect(begun).toEqual(['office'])
})

test('a read that all clients share costs none of them', () => {
  const { ask, begun, readers } = setUp()
  readers.answer('office', true, new EventEmitter() as ServerResponse, () => {
    readers.shared(() => readers.charge(5_000))
  })
  ask('office', 1)
  expect(begun).toEqual(['office'])
})

test('reads that wait begin one after the other, as the calls of each are paid; more than a hundred are refused', () => {
  const { readers, ask, begun } = setUp()
  ask('office', 1_060)
  for (let n = 0; n < 100; n++) ask('office', 60)
  expect(readers.answer('office', true, new EventEmitter() as ServerResponse, () => undefined)).toBe(false)
  expect(readers.answer('another', true, new EventEmitter() as ServerResponse, () => undefined)).toBe(true)
  vi.advanceTimersByTime(10_500)
  // One at once, and then one for each second, whose calls it causes.
  expect(begun.length).toBeGreaterThan(9)
  expect(begun.length).toBeLessThan(14)
  expect(readers.answer('office', true, new EventEmitter() as ServerResponse, () => undefined)).toBe(true)
})
