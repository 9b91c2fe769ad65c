import { expect, test } from 'vitest'
import { RESTARTED } from '../../../src/protocol/job.js'
import { FINAL_OUTCOMES, type Outcome } from '../../../src/protocol/outcome.js'
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

test('the outcome after a time-out that left a provisional result is failed, with the notice', () => {
  const end = { how: 'timeout', result: { outcome: 'failed', notice } } as const
  expect(orderOutcome(end)).toEqual({ outcome: 'failed', notice })
})

const { leastMs, waitingMs } = RETRY_TIMES
const restarted = { outcome: 'failed', code: RESTARTED } as const

test.each<[string, Parameters<typeof nextRunAt>[0], number, number | null]>([
  ...[...FINAL_OUTCOMES].map((outcome): [string, { outcome: Outcome; retryAt: number }, number, null] => [
    `does not come after ${outcome}, whatever time it names`,
    { outcome, retryAt: 1 },
    0,
    null,
  ]),
  ['comes at once when the enclave was restarted', restarted, 1, leastMs],
  ['comes later when the enclave was restarted twice in a row', restarted, 2, 4_000],
  ['comes when the run wants it', { outcome: 'queued', retryAt: 1_700_000_060 }, 0, 60_000],
  ['comes when a failed run wants it', { outcome: 'failed', retryAt: 1_700_000_009 }, 1, 9_000],
  ['does not come at once, though the run wants it', { outcome: 'placed', retryAt: 0 }, 0, leastMs],
  ['comes some time later without a time', { outcome: 'placed' }, 0, waitingMs],
  // By a clock that is ahead.
  ['comes some time later for a past opening', { outcome: 'queued', retryAt: 1_699_996_400 }, 0, waitingMs],
  [
    'comes some time later for an opening of now',
    { outcome: 'queued', retryAt: 1_700_000_000 },
    0,
    waitingMs,
  ],
  ...[2_000, 4_000, 8_000, 16_000].map((ms, n): [string, { outcome: 'failed' }, number, number] => [
    `comes after ${ms} ms`,
    { outcome: 'failed' },
    n + 1,
    ms,
  ]),
  ['comes after a quarter of an hour at most', { outcome: 'failed' }, 2_000, 900_000],
])('the next run %s', (_what, result, failures, wait) => {
  const at = nextRunAt(result, failures, NOW, RETRY_TIMES, () => 0)
  expect(at === null ? null : at - NOW).toBe(wait)
})

test('the next run comes after half of its time at the soonest, drawn anew for each', () => {
  const waits = [0, 0.5, 1].map((random) =>
    nextRunAt({ outcome: 'failed' }, 3, NOW, RETRY_TIMES, () => random),
  )
  expect(waits).toEqual([NOW + 8_000, NOW + 6_000, NOW + 4_000])
  const drawn = Array.from({ length: 20 }, () => nextRunAt({ outcome: 'failed' }, 9, NOW, RETRY_TIMES))
  expect(new Set(drawn).size).toBeGreaterThan(1)
})
