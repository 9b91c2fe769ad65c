import { afterEach, expect, it, vi } from 'vitest'
import { createIsSeen, routeOf } from '../../web/state/browser.js'

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
