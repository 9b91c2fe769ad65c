import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'

const INTERVAL_MS = 200

describe('turns', () => {
  test('without an interval come at once', async () => {
    const rateLimit = createTriggerRateLimit(0)
    expect(await Promise.all([rateLimit.take(0), rateLimit.take(0), rateLimit.take()])).toEqual([
      true,
      true,
      true,
    ])
  })

  test('come in the order of asking, an interval apart', async () => {
    const rateLimit = createTriggerRateLimit(INTERVAL_MS)
    const turns: { who: string; at: number }[] = []
    const ask = async (who: string) => {
      await rateLimit.take()
      turns.push({ who, at: performance.now() })
    }
    // The first turn comes no earlier, though a busy machine may notice it late.
    const from = performance.now()
    await Promise.all(['first', 'second', 'third'].map(ask))
    expect(turns.map(({ who }) => who)).toEqual(['first', 'second', 'third'])
    const [, second = 0, third = 0] = turns.map(({ at }) => at)
    expect(second - from).toBeGreaterThanOrEqual(INTERVAL_MS)
    expect(third - from).toBeGreaterThanOrEqual(2 * INTERVAL_MS)
  })

  test('do not come to who has stopped waiting, and are not lost by that', async () => {
    const rateLimit = createTriggerRateLimit(INTERVAL_MS)
    await rateLimit.take()
    const [impatient, patient] = [rateLimit.take(1), rateLimit.take()]
    expect(await impatient).toBe(false)
    expect(await patient).toBe(true)
  })

  test('count what an earlier server has triggered', async () => {
    const rateLimit = createTriggerRateLimit(60_000)
    rateLimit.note(Date.now() - 60_000)
    expect(await rateLimit.take(1)).toBe(true)
    const next = createTriggerRateLimit(60_000)
    next.note(Date.now() - 30_000)
    expect(await next.take(1)).toBe(false)
  })

  test('come as ever when the clock is set back by an hour', async () => {
    const paces = [createTriggerRateLimit(0), createTriggerRateLimit(INTERVAL_MS)]
    for (const rateLimit of paces) await rateLimit.take()
    const now = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
    onTestFinished(() => clock.mockRestore())
    for (const rateLimit of paces) expect(await rateLimit.take(10_000)).toBe(true)
    const next = createTriggerRateLimit(INTERVAL_MS)
    next.note(now())
    expect(await next.take(10_000)).toBe(true)
  })

  test('do not come while the host wants none', async () => {
    const rateLimit = createTriggerRateLimit(0)
    rateLimit.hold(INTERVAL_MS)
    const from = performance.now()
    expect(await rateLimit.take(1)).toBe(false)
    expect(await rateLimit.take()).toBe(true)
    expect(performance.now() - from).toBeGreaterThanOrEqual(INTERVAL_MS)
  })
})
