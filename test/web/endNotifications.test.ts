import { signal } from '@preact/signals'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Hex, OrderStatus } from '../../src/client/index.js'
import { createEndNotifications, type Notifier } from '../../web/state/endNotifications.js'
import { useMemoryStorage } from './memoryStorage.js'

useMemoryStorage()
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const MINUTE_MS = 60_000

/** A page that a person hides, whose browser has decided so on notifications. */
function hidden(decided: NotificationPermission, open: readonly Hex[] = ['0x01']) {
  let permission = decided
  const shown: string[] = []
  const asked: Hex[] = []
  const states = new Map<Hex, OrderStatus['state'] | Error>()
  const isSeen = signal(true)
  const notifier: Notifier = {
    permission: () => permission,
    request: async () => {
      permission = 'denied'
      return permission
    },
    show: (title, text) => shown.push(`${title}. ${text}`),
  }
  const notifications = createEndNotifications({
    ...{ isSeen, notifier, open: () => open },
    async ask(orderId) {
      asked.push(orderId)
      const state = states.get(orderId) ?? 'OPEN'
      if (state instanceof Error) throw state
      return { state }
    },
  })
  return { notifications, shown, asked, states, isSeen }
}

it.each([
  ['its owner has not allowed it', 'default', ['0x01'], false],
  ['its owner has refused it', 'denied', ['0x01'], false],
  ['no order is open', 'granted', [], false],
  ['it is seen', 'granted', ['0x01'], true],
] as const)('a page asks for no order where %s', async (_why, decided, open, isSeen) => {
  const page = hidden(decided, open)
  page.isSeen.value = isSeen
  await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
  expect(page.asked).toEqual([])
})

it('a page asks no more once it is seen again, and for few orders while it is not', async () => {
  const many = Array.from({ length: 20 }, (_, index): Hex => `0x${index}`)
  const { asked, isSeen } = hidden('granted', many)
  isSeen.value = false
  await vi.advanceTimersByTimeAsync(MINUTE_MS / 2)
  expect(asked).toHaveLength(5)
  isSeen.value = true
  await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
  expect(asked).toHaveLength(5)
})

it('a page asks its owner once, and remembers a refusal of hers or of the browser', async () => {
  const isAsked = (decided: NotificationPermission = 'default') =>
    hidden(decided).notifications.isUndecided.value
  const first = hidden('default')
  expect(first.notifications.isUndecided.value).toBe(true)
  first.notifications.refuse()
  expect([first.notifications.isUndecided.value, isAsked()]).toEqual([false, false])
  localStorage.clear()
  const { notifications } = hidden('default')
  await notifications.allow()
  expect([notifications.isUndecided.value, isAsked('granted')]).toEqual([false, false])
})
