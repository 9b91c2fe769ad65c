import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { OrderStatus } from '../../src/client/index.js'
import { durationOf, keepTimes, type Mark, stageOf, usualMs, withMark } from '../../web/state/stages.js'
import { MemoryStorage } from './memoryStorage.js'

const at = '2026-03-02T10:00:00Z'
type Stated = Pick<OrderStatus, 'state' | 'receivedAt' | 'triggers'>
const open: Stated = { state: 'OPEN', receivedAt: at, triggers: [] }
const ran = (outcome: OrderStatus['triggers'][number]['outcome']): Stated => ({
  ...open,
  triggers: [{ attempt: 1, reason: 'received', startedAt: at, finishedAt: at, outcome }],
})

it('an order is signed, escrowed and sealed by the page', () => {
  for (const step of ['unlocking', 'signing'] as const) expect(stageOf(step, null)).toBe('sign')
  for (const step of ['approving', 'opening'] as const) expect(stageOf(step, null)).toBe('escrow')
  expect(stageOf('submitting', null)).toBe('sealed')
  expect(stageOf(null, null)).toBe('sealed')
  expect(stageOf(null, { ...open, receivedAt: null })).toBe('sealed')
})

it('then the enclave works on it, and the chain settles it', () => {
  expect(stageOf(null, open)).toBe('enclave')
  for (const outcome of [null, 'queued', 'placed', 'failed'] as const) {
    expect(stageOf(null, ran(outcome))).toBe('enclave')
  }
  expect(stageOf(null, ran('settled'))).toBe('settled')
  expect(stageOf(null, { ...ran('settled'), state: 'SETTLED' })).toBe('done')
  expect(stageOf(null, { ...ran('refunded'), state: 'REFUNDED' })).toBe('done')
})

it('a stage lasts until the next one begins, and another order begins anew', () => {
  const marks = [
    { stage: 'sign', at: 0 },
    { stage: 'escrow', at: 500 },
    { stage: 'escrow', at: 900 },
    { stage: 'sealed', at: 2_000 },
  ] as const
  const seen = marks.reduce<readonly Mark[]>(withMark, [])
  expect(seen.map(({ stage }) => stage)).toEqual(['sign', 'escrow', 'sealed'])
  expect(durationOf('escrow', seen)).toBe(1_500)
  expect(durationOf('sealed', seen)).toBeNull()
  expect(durationOf('enclave', seen)).toBeNull()
  expect(withMark(seen, { stage: 'sign', at: 9_000 })).toEqual([{ stage: 'sign', at: 9_000 }])
})

beforeEach(() => {
  vi.stubGlobal('localStorage', new MemoryStorage())
})
afterEach(() => {
  vi.unstubAllGlobals()
})

it('the usual time of a stage is the median of the last orders', () => {
  expect(usualMs('enclave')).toBeNull()
  for (const enclave of [100, 900, 200]) keepTimes({ enclave })
  expect(usualMs('enclave')).toBe(200)
  expect(usualMs('sealed')).toBeNull()
  keepTimes({ sealed: 50 })
  expect(usualMs('enclave')).toBe(200)
  for (let order = 0; order < 9; order++) keepTimes({ enclave: 700 })
  expect(usualMs('enclave')).toBe(700)
})

it('damaged times count as none', () => {
  localStorage.setItem('desk:stage-times', '{"enclave":["soon"]}')
  expect(usualMs('enclave')).toBeNull()
  keepTimes({ enclave: 300 })
  expect(usualMs('enclave')).toBe(300)
})
