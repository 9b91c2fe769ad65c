import { expect, test } from 'vitest'
import { createKeyedLock } from '../../src/service/keyedLock.js'

test('runs actions of one key in order, one at a time, and those of another key beside them', async () => {
  const lock = createKeyedLock()
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const events: string[] = []
  const first = lock.run('a', async () => {
    events.push('a1 starts')
    await opened
    events.push('a1 ends')
  })
  const second = lock.run('a', async () => {
    events.push('a2')
    return 'result'
  })
  await lock.run('b', async () => {
    events.push('b')
  })
  open()
  await first
  expect(await second).toBe('result')
  expect(events).toEqual(['a1 starts', 'b', 'a1 ends', 'a2'])
})

test('goes on after a failure, which reaches its own caller alone', async () => {
  const lock = createKeyedLock()
  const failing = lock.run('a', () => Promise.reject(new Error('first')))
  const next = lock.run('a', async () => 'second')
  await expect(failing).rejects.toThrow('first')
  expect(await next).toBe('second')
})
