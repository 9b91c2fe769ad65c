import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Client, OrderStatus } from '../../src/client/index.js'
import { useNotice } from '../../web/trade/useNotice.js'
import { renderHook } from './support/renderHook.js'

const ID = `0x${'0a'.repeat(32)}` as const
const notice = { orderId: ID, code: 'over-limit', message: 'Too much.' }
const refunded: OrderStatus = {
  ...{ orderId: ID, state: 'REFUNDED', account: null, amount: null, deadline: null, commit: null },
  ...{ receivedAt: null, triggers: [], nextTriggerAt: null, notice: null },
}

beforeEach(() => {
  vi.stubGlobal('window', globalThis)
})
afterEach(() => {
  vi.unstubAllGlobals()
})

/** A client that fails at first; `next` shows the hook a newer status. */
function opening(failure: Error) {
  const openNotice = vi.fn<Client['openNotice']>().mockRejectedValueOnce(failure).mockResolvedValue(notice)
  let status = refunded
  const client = { openNotice }
  const hook = renderHook(() => useNotice(client, status, true))
  const next = () => {
    status = { ...refunded }
    hook.rerender()
  }
  return { ...hook, next }
}

it('what went wrong is forgotten once it goes well', async () => {
  const failure = new Error('the wallet was locked')
  const hook = opening(failure)
  await vi.waitFor(() => expect(hook.current()).toEqual({ notice: null, error: failure }))
  hook.next()
  await vi.waitFor(() => expect(hook.current()).toEqual({ notice, error: null }))
  hook.unmount()
})
