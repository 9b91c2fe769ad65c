import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { createSharedValue } from '../../../src/server/status/market.js'

afterEach(() => {
  vi.restoreAllMocks()
})

/** A value whose loads the test ends, fresh for 10 ms, asked for again 5 ms after a failure. */
function setUp({ usableMs = 10, patienceMs }: { usableMs?: number; patienceMs?: number } = {}) {
  const pending: { resolve: (value: number) => void; reject: (error: Error) => void }[] = []
  let time = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => time)
  const shared = createSharedValue({
    load: () => new Promise<number>((resolve, reject) => pending.push({ resolve, reject })),
    freshMs: () => 10,
    usableMs: () => usableMs,
    ...(patienceMs !== undefined && { patienceMs }),
    retryMs: () => 5,
  })
  return {
    shared,
    pending,
    pass: (ms: number) => {
      time += ms
    },
  }
}

const fresh = (value: number) => ({ value, isFresh: true })
const old = (value: number) => ({ value, isFresh: false })

test('many callers at once cost one load', async () => {
  const { shared, pending } = setUp()
  const calls = [shared.get(), shared.get(), shared.get()]
  expect(pending.length).toBe(1)
  pending[0]?.resolve(7)
  expect(await Promise.all(calls)).toEqual(Array(3).fill(fresh(7)))
})

test('a value serves while it is fresh and is loaded anew at the moment it is not', async () => {
  const { shared, pending, pass } = setUp()
  const first = shared.get()
  pending[0]?.resolve(1)
  await first
  pass(9)
  expect(await shared.get()).toEqual(fresh(1))
  expect(pending.length).toBe(1)
  pass(1)
  const second = shared.get()
  expect(pending.length).toBe(2)
  pending[1]?.resolve(2)
  expect(await second).toEqual(fresh(2))
})

test('a failure reaches everyone who waited, and is repeated without asking until the time to retry', async () => {
  const { shared, pending, pass } = setUp()
  const calls = [shared.get(), shared.get()]
  pending[0]?.reject(new Error('down'))
  await Promise.all(calls.map((call) => expect(call).rejects.toThrow('down')))
  pass(4)
  await expect(shared.get()).rejects.toThrow('down')
  expect(pending.length).toBe(1)
  pass(1)
  const retried = shared.get()
  pending[1]?.resolve(3)
  expect(await retried).toEqual(fresh(3))
  expect(await shared.get()).toEqual(fresh(3))
})

test('the last value is kept through a failure, for callers of last()', async () => {
  const { shared, pending, pass } = setUp()
  expect(shared.last()).toBeUndefined()
  const first = shared.get()
  pending[0]?.resolve(1)
  await first
  pass(10)
  const second = shared.get()
  pending[1]?.reject(new Error('down'))
  await expect(second).rejects.toThrow('down')
  expect(shared.last()).toBe(1)
})

test('a value that is not fresh but usable is given at once, while one load for all is under way', async () => {
  const { shared, pending, pass } = setUp({ usableMs: 20 })
  const first = shared.get()
  pending[0]?.resolve(1)
  await first
  pass(10)
  expect(await Promise.all([shared.get(), shared.get()])).toEqual([old(1), old(1)])
  expect(pending.length).toBe(2)
  pending[1]?.resolve(2)
  await expect.poll(() => shared.get()).toEqual(fresh(2))
  pass(20)
  const waiting = shared.get()
  pending[2]?.resolve(3)
  expect(await waiting).toEqual(fresh(3))
})

test('a usable value is given while loads fail, without asking before the time to retry', async () => {
  const { shared, pending, pass } = setUp({ usableMs: 20 })
  const first = shared.get()
  pending[0]?.resolve(1)
  await first
  pass(10)
  expect(await shared.get()).toEqual(old(1))
  pending[1]?.reject(new Error('down'))
  await expect.poll(() => shared.last()).toBe(1)
  expect(await shared.get()).toEqual(old(1))
  expect(pending.length).toBe(2)
  pass(10)
  const late = shared.get()
  pending[2]?.reject(new Error('still down'))
  await expect(late).rejects.toThrow('still down')
})

test('a load that takes its time is not waited for where an older value may be given', async () => {
  const { shared, pending, pass } = setUp({ patienceMs: 5 })
  const first = shared.get()
  const late = setTimeout(20, 'the first load has nothing to give in its place')
  expect(await Promise.race([first, late])).toBe(await late)
  pending[0]?.resolve(1)
  expect(await first).toEqual(fresh(1))
  pass(10)
  expect(await Promise.all([shared.get(), shared.get()])).toEqual([old(1), old(1)])
  expect(await shared.get()).toEqual(old(1))
  expect(pending.length).toBe(2)
  pending[1]?.resolve(2)
  await expect.poll(() => shared.get()).toEqual(fresh(2))
})
