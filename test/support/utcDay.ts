import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll } from 'vitest'

const DAY_MS = 86_400_000

/** Budgets are renewed at midnight (UTC): tests that use one up begin after it when less than this is left of the day. */
export function useUtcDay(leastMs: number): void {
  beforeAll(async () => {
    const leftMs = DAY_MS - (Date.now() % DAY_MS)
    if (leftMs < leastMs) await sleep(leftMs)
  }, leastMs + 10_000)
}
