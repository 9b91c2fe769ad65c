import { expect, test } from 'vitest'
import { createDirectorySync } from '../../../src/server/store/directorySync.js'

/** A sync whose ends the test decides. */
function setUp() {
  const begun: { path: string; end: () => void; fail: (error: Error) => void }[] = []
  const sync = createDirectorySync(
    (path) => new Promise((end, fail) => begun.push({ path, end: () => end(), fail })),
  )
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return { sync, begun, settle }
}

test('begins at once when nothing is under way', async () => {
  const { sync, begun } = setUp()
  const done = sync('a')
  expect(begun).toHaveLength(1)
  begun[0]?.end()
  await done
})

test('those who come while one is under way share the next, which begins after it', async () => {
  const { sync, begun, settle } = setUp()
  const first = sync('a')
  let shared = 0
  const later = [sync('a'), sync('a'), sync('a')].map((one) => one.then(() => shared++))
  expect(begun).toHaveLength(1)
  begun[0]?.end()
  await first
  await settle()
  expect(begun).toHaveLength(2)
  expect(shared).toBe(0)
  begun[1]?.end()
  await Promise.all(later)
  expect(begun).toHaveLength(2)
})

test('one that has begun is not shared: it may have missed a later change', async () => {
  const { sync, begun, settle } = setUp()
  const first = sync('a')
  const second = sync('a')
  begun[0]?.end()
  await first
  await settle()
  const third = sync('a')
  begun[1]?.end()
  await second
  await settle()
  expect(begun).toHaveLength(3)
  begun[2]?.end()
  await third
})

test('a failure reaches those who shared it, and no others', async () => {
  const { sync, begun, settle } = setUp()
  const first = sync('a')
  const later = [sync('a'), sync('a')]
  begun[0]?.fail(new Error('no disk'))
  await expect(first).rejects.toThrow('no disk')
  await settle()
  begun[1]?.end()
  await Promise.all(later)
  const again = sync('a')
  begun[2]?.end()
  await again
})

test('directories do not wait for one another', () => {
  const { sync, begun } = setUp()
  void sync('a')
  void sync('b')
  expect(begun.map(({ path }) => path)).toEqual(['a', 'b'])
})
