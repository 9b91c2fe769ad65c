import { beforeEach, expect, test, vi } from 'vitest'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'

const INTERVAL_MS = 60_000

beforeEach(() => {
  vi.useFakeTimers()
  return () => void vi.useRealTimers()
})

test('turns come in the order of asking, an interval apart, and none is lost to a caller that stops waiting', async () => {
  const rateLimit = createTriggerRateLimit(INTERVAL_MS)
  const turns: [string, boolean, number][] = []
  const from = performance.now()
  const ask = async (name: string, ms?: number) => {
    const isGiven = await rateLimit.acquire(ms)
    turns.push([name, isGiven, performance.now() - from])
  }
  void ask('first')
  void ask('impatient', 1)
  void ask('second')
  void ask('third')
  await vi.advanceTimersByTimeAsync(2 * INTERVAL_MS)
  expect(turns).toEqual([
    ['first', true, 0],
    ['impatient', false, 1],
    ['second', true, INTERVAL_MS],
    ['third', true, 2 * INTERVAL_MS],
  ])
})

test('the first turn of a server comes an interval after the last run of an earlier server', async () => {
  const takes = [INTERVAL_MS, INTERVAL_MS / 2].map((ago) => {
    const rateLimit = createTriggerRateLimit(INTERVAL_MS)
    rateLimit.note(Date.now() - ago)
    return rateLimit.acquire(1)
  })
  await vi.advanceTimersByTimeAsync(1)
  expect(await Promise.all(takes)).toEqual([true, false])
})

test('turns come as ever when the clock is set back by an hour', async () => {
  const running = createTriggerRateLimit(INTERVAL_MS)
  await running.acquire()
  const before = Date.now()
  vi.setSystemTime(before - 3_600_000)
  const next = createTriggerRateLimit(INTERVAL_MS)
  next.note(before)
  const takes = [running.acquire(2 * INTERVAL_MS), next.acquire(2 * INTERVAL_MS)]
  await vi.advanceTimersByTimeAsync(INTERVAL_MS)
  expect(await Promise.all(takes)).toEqual([true, true])
})

test('no turn comes for as long as the runtime asks', async () => {
  const rateLimit = createTriggerRateLimit(0)
  rateLimit.pauseFor(INTERVAL_MS)
  const takes = [rateLimit.acquire(INTERVAL_MS - 1), rateLimit.acquire(INTERVAL_MS + 1)]
  await vi.advanceTimersByTimeAsync(INTERVAL_MS + 1)
  expect(await Promise.all(takes)).toEqual([false, true])
})
