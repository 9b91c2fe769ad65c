import { expect, it, vi } from 'vitest'
import { useIsSeen } from '../../web/hooks/useIsSeen.js'
import { renderHook } from './support/renderHook.js'

// The globals stay: an effect may still be due when the test ends.
it('a page that is shown while it is being drawn is seen', async () => {
  const page = Object.assign(new EventTarget(), { hidden: true })
  vi.stubGlobal('window', globalThis)
  vi.stubGlobal('document', page)
  const hook = renderHook(useIsSeen)
  expect(hook.current()).toBe(false)
  page.hidden = false
  page.dispatchEvent(new Event('visibilitychange'))
  await vi.waitFor(() => expect(hook.current()).toBe(true))
  hook.unmount()
})
