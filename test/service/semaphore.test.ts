import { expect, test } from 'vitest'
import { createSemaphore } from '../../src/service/semaphore.js'

test('a caller whose time is over gets no permit, and takes none from the callers behind it', async () => {
  const semaphore = createSemaphore(1)
  expect(await semaphore.acquire()).toBe(true)
  const patient = semaphore.acquire(60_000)
  expect(await semaphore.acquire(1)).toBe(false)
  semaphore.release()
  expect(await patient).toBe(true)
  semaphore.release()
  expect(await semaphore.acquire(0)).toBe(true)
})

test('occupying takes a permit that is not free, and the next caller waits until it is', async () => {
  const semaphore = createSemaphore(1)
  semaphore.occupy()
  semaphore.occupy()
  let hasEntered = false
  const waiting = semaphore.acquire().then((acquired) => {
    hasEntered = true
    return acquired
  })
  semaphore.release()
  await new Promise(setImmediate)
  expect(hasEntered).toBe(false)
  semaphore.release()
  expect(await waiting).toBe(true)
  semaphore.release()
  expect(await semaphore.acquire(0)).toBe(true)
})
