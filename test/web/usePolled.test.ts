import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { usePolled } from '../../web/hooks/usePolled.js'
import { renderHook } from './support/renderHook.js'

const EVERY_MS = 1_000

/** As much of a page as polling knows. */
let page = Object.assign(new EventTarget(), { hidden: false })

beforeEach(() => {
  vi.stubGlobal('window', globalThis)
  page = Object.assign(new EventTarget(), { hidden: false })
  vi.stubGlobal('document', page)
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Polls a question, and tells how often it was asked, and whether the last time was called off. */
async function polled() {
  const asked: AbortSignal[] = []
  const ask = async (signal: AbortSignal) => asked.push(signal)
  const hook = renderHook(() => usePolled(ask, EVERY_MS))
  await vi.waitFor(() => expect(hook.current().value).toBe(1))
  return { asked, hook }
}

it('asks at once, at an interval, and when it is told to', async () => {
  const { asked, hook } = await polled()
  await vi.advanceTimersByTimeAsync(EVERY_MS)
  expect(asked).toHaveLength(2)
  hook.current().refresh()
  expect(asked).toHaveLength(3)
  expect(asked.map(({ aborted }) => aborted)).toEqual([true, true, false])
  await vi.advanceTimersByTimeAsync(EVERY_MS)
  expect(asked).toHaveLength(4)
  hook.unmount()
})

it('asks no more once it has gone, whoever tells it to', async () => {
  const { asked, hook } = await polled()
  const { refresh } = hook.current()
  hook.unmount()
  await vi.waitFor(() => expect(asked.map(({ aborted }) => aborted)).toEqual([true]))
  refresh()
  await vi.advanceTimersByTimeAsync(10 * EVERY_MS)
  expect(asked).toHaveLength(1)
})

it('asks nothing while nobody sees the page, and at once when somebody does', async () => {
  const { asked, hook } = await polled()
  page.hidden = true
  page.dispatchEvent(new Event('visibilitychange'))
  await vi.waitFor(() => expect(asked.map(({ aborted }) => aborted)).toEqual([true]))
  await vi.advanceTimersByTimeAsync(10 * EVERY_MS)
  expect(asked).toHaveLength(1)
  page.hidden = false
  page.dispatchEvent(new Event('visibilitychange'))
  await vi.waitFor(() => expect(asked).toHaveLength(2))
  hook.unmount()
})
