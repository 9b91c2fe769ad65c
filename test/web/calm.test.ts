import { effect, signal } from '@preact/signals'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createCalm } from '../../web/calm.js'
import { createQuery } from '../../web/query.js'

const MINUTE_MS = 60_000
const PACE_MS = 3_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A shown query of a page, and when it was asked. */
function show(isSeen = signal(true)) {
  const calm = createCalm()
  const asked: number[] = []
  const question = async () => asked.push(Date.now())
  const query = createQuery<number>({ isSeen, question: () => question, pace: PACE_MS, calm })
  const leave = effect(() => void query.value)
  return { calm, asked, leave }
}

test('a page where nothing moves asks every half minute at last', async () => {
  const { asked, leave } = show()
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
  const before = asked.length
  await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
  expect(before).toBeLessThan(10)
  expect(asked.length - before).toBe(20)
  leave()
})

test('a page that moves asks at its pace', async () => {
  const { calm, asked, leave } = show()
  for (let second = 0; second < 60; second++) {
    calm.stir()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(asked).toHaveLength(1 + 60 / 3)
  leave()
})

test('a page asks at once when something moves again, and at its pace from then on', async () => {
  const { calm, asked, leave } = show()
  await vi.advanceTimersByTimeAsync(5 * MINUTE_MS)
  const before = asked.length
  calm.stir()
  expect(asked).toHaveLength(before + 1)
  await vi.advanceTimersByTimeAsync(PACE_MS)
  expect(asked).toHaveLength(before + 2)
  leave()
})

test('a hidden page asks nothing, also when something moves', async () => {
  const isSeen = signal(true)
  const { calm, asked, leave } = show(isSeen)
  isSeen.value = false
  await vi.advanceTimersByTimeAsync(MINUTE_MS)
  calm.stir()
  await vi.advanceTimersByTimeAsync(MINUTE_MS)
  expect(asked).toHaveLength(1)
  isSeen.value = true
  expect(asked).toHaveLength(2)
  leave()
})
