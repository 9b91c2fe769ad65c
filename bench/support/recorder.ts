import type { LoadPlan, LoadResult } from './load.js'
import { quantile } from './statistics.js'

/** Counts from the first request to the last answer, or to the end of the time. */
export function createRecorder({ durationMs, expectedStatus }: LoadPlan) {
  const isExpected = (status: number) =>
    expectedStatus === undefined ? status >= 200 && status < 300 : status === expectedStatus
  const latencies: number[] = []
  let failures = 0
  let startedAt = performance.now()
  let lastAt = startedAt
  return {
    start() {
      startedAt = performance.now()
    },
    answered(status: number, ms: number) {
      const now = performance.now()
      if (durationMs !== null && now > startedAt + durationMs) return
      lastAt = now
      if (isExpected(status)) latencies.push(ms)
      else failures++
    },
    failed() {
      failures++
    },
    result(): LoadResult {
      const seconds = (durationMs ?? lastAt - startedAt) / 1_000
      const sorted = Float64Array.from(latencies).sort()
      return {
        answered: latencies.length,
        failed: failures,
        perSecond: latencies.length / seconds,
        p50Ms: quantile(sorted, 0.5),
        p99Ms: quantile(sorted, 0.99),
      }
    },
  }
}
