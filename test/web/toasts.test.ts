import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createToasts } from '../../web/state/toasts.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('a toast goes by itself, or when it is dismissed', async () => {
  const { shown, show, dismiss } = createToasts()
  show({ tone: 'wait', says: 'one' })
  show({ tone: 'good', says: 'two' })
  expect(shown.value.map(({ says }) => says)).toEqual(['one', 'two'])
  dismiss(shown.value[0]?.id ?? 0)
  expect(shown.value.map(({ says }) => says)).toEqual(['two'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(shown.value).toEqual([])
})
