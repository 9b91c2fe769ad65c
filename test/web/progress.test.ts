import { effect, signal } from '@preact/signals'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { OrderStatus } from '../../src/client/index.js'
import type { PlacingState } from '../../web/state/placing.js'
import { createProgress } from '../../web/state/progress.js'
import { keepTimes, usualMs } from '../../web/state/stages.js'
import { useMemoryStorage } from './memoryStorage.js'

const ID = `0x${'0a'.repeat(32)}` as const
const AT = '2026-03-02T10:00:00Z'
const NONE: PlacingState = {
  ...{ step: null, byPlatform: null, prompts: null, orderId: null, taken: null, error: null },
  ...{ isUnsent: false, mayBeOpen: false },
}
const open: OrderStatus = {
  ...{ orderId: ID, state: 'OPEN', account: null, amount: null, deadline: null, commit: null },
  ...{ receivedAt: AT, triggers: [], nextTriggerAt: null, notice: null },
}
const run = { attempt: 1, reason: 'received', startedAt: AT, finishedAt: AT } as const

useMemoryStorage()
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** An order whose steps and states come as the test says, a second apart. */
function watched() {
  const state = signal(NONE)
  const status = signal<OrderStatus | null>(null)
  const queries = {
    status: {
      get value() {
        return status.value
      },
      error: null,
    },
    notice: { value: null },
  }
  const progress = createProgress({ state }, { of: () => queries })
  onTestFinished(effect(() => void progress.value))
  return {
    progress,
    place(to: Partial<PlacingState>) {
      vi.advanceTimersByTime(1_000)
      state.value = { ...NONE, ...to }
    },
    become(to: Partial<OrderStatus>) {
      vi.advanceTimersByTime(1_000)
      status.value = { ...open, ...to }
    },
  }
}

it('an order passes through its stages, and leaves its times', () => {
  const { progress, place, become } = watched()
  expect(progress.value).toBeNull()
  place({ step: 'signing' })
  place({ step: 'approving' })
  place({ step: 'opening' })
  place({ step: 'submitting' })
  place({ orderId: ID })
  become({})
  become({ triggers: [{ ...run, outcome: 'settled' }] })
  become({ state: 'SETTLED', triggers: [{ ...run, outcome: 'settled' }] })
  expect(progress.value?.marks.map(({ stage }) => stage)).toEqual([
    ...['sign', 'escrow', 'sealed', 'enclave', 'settled', 'done'],
  ])
  expect(usualMs('escrow')).toBe(2_000)
  expect(usualMs('enclave')).toBe(1_000)
  expect(usualMs('sign')).toBeNull()
  place({})
  expect(progress.value).toBeNull()
})

it('an order that waited, or was refused, leaves none', () => {
  const { place, become } = watched()
  const waited = [{ ...run, outcome: 'queued' } as const, { ...run, attempt: 2, outcome: 'settled' } as const]
  for (const end of [
    { state: 'SETTLED', triggers: waited },
    { state: 'REFUNDED', triggers: [{ ...run, outcome: 'refunded' }] },
  ] as const) {
    place({ step: 'opening' })
    place({ orderId: ID })
    become({})
    become({ ...end, triggers: [...end.triggers] })
    become({})
  }
  expect(usualMs('escrow')).toBeNull()
})

it('the usual time of a stage is the median of the last nine orders, without damaged ones', () => {
  localStorage.setItem('desk:stage-times', '{"enclave":["soon"]}')
  expect(usualMs('enclave')).toBeNull()
  for (const enclave of [100, 900, 200]) keepTimes({ enclave })
  expect([usualMs('enclave'), usualMs('sealed')]).toEqual([200, null])
  keepTimes({ sealed: 50 })
  expect(usualMs('enclave')).toBe(200)
  for (let order = 0; order < 9; order++) keepTimes({ enclave: 700 })
  expect(usualMs('enclave')).toBe(700)
})
