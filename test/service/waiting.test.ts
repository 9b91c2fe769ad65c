import { expect, onTestFinished, test, vi } from 'vitest'
import { withTimeout } from '../../src/service/waiting.js'

test('a limit that is longer than any timer is not over at once', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { promise, resolve } = Promise.withResolvers<string>()
  const waiting = withTimeout(promise, 2 ** 40)
  // Node's timer of 1 ms, in its place, would have ended by then.
  vi.advanceTimersByTime(50)
  resolve('in time')
  expect(await waiting).toBe('in time')
})
