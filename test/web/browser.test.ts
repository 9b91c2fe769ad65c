import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createIsSeen, routeOf } from '../../web/state/browser.js'
import { createToasts } from '../../web/state/toasts.js'

afterEach(() => {
  vi.unstubAllGlobals()
})

it('the page is seen when its tab is', () => {
  const page = Object.assign(new EventTarget(), { hidden: true })
  vi.stubGlobal('document', page)
  const isSeen = createIsSeen()
  expect(isSeen.value).toBe(false)
  page.hidden = false
  page.dispatchEvent(new Event('visibilitychange'))
  expect(isSeen.value).toBe(true)
})

it('an address without a known route is the desk', () => {
  expect(routeOf('#/institution')).toBe('institution')
  expect(routeOf('#/elsewhere')).toBe('desk')
  expect(routeOf('')).toBe('desk')
})

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
