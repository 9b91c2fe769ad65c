import { describe, expect, test } from 'vitest'
import { FINAL_OUTCOMES, RESTARTED } from '../../../src/protocol/job.js'
import { nextRunAt, orderOutcome, RETRY_TIMES, waitReasonOf } from '../../../src/server/trigger/orderRun.js'

const NOW = 1_700_000_000_000
const notice = {
  epk: `0x02${'11'.repeat(32)}`,
  iv: `0x${'22'.repeat(12)}`,
  ct: '0x33',
  tag: `0x${'44'.repeat(16)}`,
} as const

test('only a queued order tells what it waits for, and only codes that are made for it', () => {
  const queued = { outcome: 'queued', code: 'relay-quota-exhausted' } as const
  expect(waitReasonOf(queued)).toBe('relay-quota-exhausted')
  expect(waitReasonOf({ ...queued, code: 'paused' })).toBe('paused')
  expect(waitReasonOf({ ...queued, code: 'broker-refused' })).toBeUndefined()
  expect(waitReasonOf({ ...queued, outcome: 'failed' })).toBeUndefined()
  expect(waitReasonOf({ outcome: 'queued' })).toBeUndefined()
})

describe('the outcome of a run', () => {
  test('is failed, with the notice, after a time-out that left a provisional result', () => {
    const end = { how: 'timeout', result: { outcome: 'failed', notice } } as const
    expect(orderOutcome(end)).toEqual({ outcome: 'failed', notice })
  })
})

describe('the next run', () => {
  const at = (result: Parameters<typeof nextRunAt>[0], failures = 0, random = 0) =>
    nextRunAt(result, failures, NOW, RETRY_TIMES, () => random)

  test('does not come after a final outcome, whatever time it names', () => {
    for (const outcome of FINAL_OUTCOMES) expect(at({ outcome, retryAt: 1 })).toBeNull()
  })

  test('comes at once when the enclave was restarted, but not twice in a row', () => {
    const restarted = { outcome: 'failed', code: RESTARTED } as const
    expect(at(restarted, 1)).toBe(NOW + RETRY_TIMES.leastMs)
    expect(at(restarted, 2)).toBe(at({ outcome: 'failed' }, 2))
  })

  test('comes when the run wants it, but not at once', () => {
    expect(at({ outcome: 'queued', retryAt: 1_700_000_060 })).toBe(NOW + 60_000)
    expect(at({ outcome: 'placed', retryAt: 0 })).toBe(NOW + RETRY_TIMES.leastMs)
    expect(at({ outcome: 'failed', retryAt: 1_700_000_009 }, 1)).toBe(NOW + 9_000)
  })

  test('comes some time later for an opening that is past by a clock that is ahead', () => {
    const opening = NOW / 1_000 - 3_600
    expect(at({ outcome: 'queued', retryAt: opening })).toBe(NOW + RETRY_TIMES.waitingMs)
    expect(at({ outcome: 'queued', retryAt: NOW / 1_000 })).toBe(NOW + RETRY_TIMES.waitingMs)
  })

  test('comes some time later when the run names no time', () => {
    expect(at({ outcome: 'placed' })).toBe(NOW + RETRY_TIMES.waitingMs)
  })

  test('comes later after each failure, up to a quarter of an hour', () => {
    const waits = [1, 2, 3, 4, 12, 2_000].map((failures) => (at({ outcome: 'failed' }, failures) ?? 0) - NOW)
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 900_000, 900_000])
  })

  test('comes after half of that time at the soonest, so that what failed together does not come back together', () => {
    const waits = [0, 0.5, 1].map((random) => (at({ outcome: 'failed' }, 3, random) ?? 0) - NOW)
    expect(waits).toEqual([8_000, 6_000, 4_000])
  })

  test('is drawn anew for each', () => {
    const drawn = Array.from({ length: 20 }, () => nextRunAt({ outcome: 'failed' }, 9, NOW, RETRY_TIMES))
    expect(new Set(drawn).size).toBeGreaterThan(1)
  })
})
