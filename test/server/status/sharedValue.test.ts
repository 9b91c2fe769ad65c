import { expect, test } from 'vitest'
import { createSharedValue } from '../../../src/server/status/sharedValue.js'

/** A value that is loaded by hand, fresh for 10 ms, asked for again 5 ms after a failure. */
function setUp() {
  const pending: { resolve: (value: number) => void; reject: (error: Error) => void }[] = []
  let time = 1_000
  const shared = createSharedValue({
    load: () => new Promise<number>((resolve, reject) => pending.push({ resolve, reject })),
    freshUntil: (_value, loadedAt) => loadedAt + 10,
    retryAt: (_error, failedAt) => failedAt + 5,
    now: () => time,
  })
  return {
    shared,
    pending,
    pass: (ms: number) => {
      time += ms
    },
  }
}

test('many callers at once cost one load', async () => {
  const { shared, pending } = setUp()
  const calls = [shared.get(), shared.get(), shared.get()]
  expect(pending.length).toBe(1)
  pending[0]?.resolve(7)
  expect(await Promise.all(calls)).toEqual([7, 7, 7])
})

test('a value serves while it is fresh and is loaded anew at the moment it is not', async () => {
  const { shared, pending, pass } = setUp()
  const first = shared.get()
  pending[0]?.resolve(1)
  await first
  pass(9)
  expect(await shared.get()).toBe(1)
  expect(pending.length).toBe(1)
  pass(1)
  const second = shared.get()
  expect(pending.length).toBe(2)
  pending[1]?.resolve(2)
  expect(await second).toBe(2)
})

test('a failure reaches everyone who waited, and is repeated without asking until the time to retry', async () => {
  const { shared, pending, pass } = setUp()
  const calls = [shared.get(), shared.get()]
  pending[0]?.reject(new Error('down'))
  for (const call of calls) await expect(call).rejects.toThrow('down')
  pass(4)
  await expect(shared.get()).rejects.toThrow('down')
  expect(pending.length).toBe(1)
  pass(1)
  const retried = shared.get()
  pending[1]?.resolve(3)
  expect(await retried).toBe(3)
  expect(await shared.get()).toBe(3)
})

test('the last value is kept through a failure, for whoever wants it', async () => {
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
