import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { keepTimes, usualMs } from '../../web/state/stages.js'
import { MemoryStorage } from './memoryStorage.js'

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
