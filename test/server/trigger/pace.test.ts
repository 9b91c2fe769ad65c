import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPace } from '../../../src/server/trigger/pace.js'

const INTERVAL_MS = 200

describe('turns', () => {
  test('without an interval come at once', async () => {
    const pace = createPace(0)
    expect(await Promise.all([pace.take(0), pace.take(0), pace.take()])).toEqual([true, true, true])
  })

  test('come in the order of asking, an interval apart', async () => {
    const pace = createPace(INTERVAL_MS)
    const turns: { who: string; at: number }[] = []
    const ask = async (who: string) => {
      await pace.take()
      turns.push({ who, at: performance.now() })
    }
    await Promise.all(['first', 'second', 'third'].map(ask))
    expect(turns.map(({ who }) => who)).toEqual(['first', 'second', 'third'])
    const [first, second, third] = turns.map(({ at }) => at)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(INTERVAL_MS)
    expect((third ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(2 * INTERVAL_MS)
  })

  test('do not come to who has stopped waiting, and are not lost by that', async () => {
    const pace = createPace(INTERVAL_MS)
    await pace.take()
    const [impatient, patient] = [pace.take(1), pace.take()]
    expect(await impatient).toBe(false)
    expect(await patient).toBe(true)
  })

  test('count what an earlier server has triggered', async () => {
    const pace = createPace(60_000)
    pace.note(Date.now() - 60_000)
    expect(await pace.take(1)).toBe(true)
    const next = createPace(60_000)
    next.note(Date.now() - 30_000)
    expect(await next.take(1)).toBe(false)
  })

  test('come as ever when the clock is set back by an hour', async () => {
    const paces = [createPace(0), createPace(INTERVAL_MS)]
    for (const pace of paces) await pace.take()
    const now = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
    onTestFinished(() => clock.mockRestore())
    for (const pace of paces) expect(await pace.take(10_000)).toBe(true)
    const next = createPace(INTERVAL_MS)
    next.note(now())
    expect(await next.take(10_000)).toBe(true)
  })

  test('do not come while the host wants none', async () => {
    const pace = createPace(0)
    pace.hold(INTERVAL_MS)
    const from = performance.now()
    expect(await pace.take(1)).toBe(false)
    expect(await pace.take()).toBe(true)
    expect(performance.now() - from).toBeGreaterThanOrEqual(INTERVAL_MS)
  })
})
