import { describe, expect, test } from 'vitest'
import { type CheckReason, createCheck, createReadiness, type Look } from '../../../src/server/ops/check.js'
import { createLogLines } from '../../support/logLines.js'

const HEALTHY = { status: 'healthy', reason: null }
const LATE = { status: 'unhealthy', reason: 'no-answer-in-time' }

function setUp(look: Look, times: { limitMs?: number; freshMs?: number } = {}) {
  let looks = 0
  const log = createLogLines()
  const counted = () => {
    looks++
    return look()
  }
  const check = createCheck({ name: 'disk', look: counted, logger: log.logger, ...times })
  return { check, log, looks: () => looks }
}

/** A look that ends when told, as one at a disk or node that hangs. */
function hanging() {
  let end: (reason: CheckReason | null) => void = () => undefined
  const looked = new Promise<CheckReason | null>((resolve) => {
    end = resolve
  })
  return { look: () => looked, end: (reason: CheckReason | null) => end(reason) }
}

describe('a check', () => {
  test('serves all who ask at once, and shortly after, by one look', async () => {
    const { check, looks } = setUp(async () => 'store-not-writable', { freshMs: 3_600_000 })
    const results = await Promise.all([check.result(), check.result()])
    expect([...results, await check.result()]).toEqual(
      Array(3).fill({ status: 'unhealthy', reason: 'store-not-writable' }),
    )
    expect(looks()).toBe(1)
  })

  test('looks again once its result is old', async () => {
    const { check, looks } = setUp(async () => null, { freshMs: 0 })
    expect(await check.result()).toEqual(HEALTHY)
    expect(await check.result()).toEqual(HEALTHY)
    expect(looks()).toBe(2)
  })

  test('that hangs is unhealthy after its limit, at once for later callers, and is not begun again', async () => {
    const { look, end } = hanging()
    const { check, looks } = setUp(look, { limitMs: 50, freshMs: 3_600_000 })
    expect(await check.result()).toEqual(LATE)
    expect(await Promise.all([check.result(), check.result()])).toEqual([LATE, LATE])
    expect(looks()).toBe(1)
    end(null)
    await expect.poll(() => check.result()).toEqual(HEALTHY)
    expect(looks()).toBe(1)
  })

  test('that fails by itself is unhealthy, and logged without the words of the failure', async () => {
    const { check, log } = setUp(async () => {
      throw new TypeError('canary')
    })
    expect(await check.result()).toEqual({ status: 'unhealthy', reason: 'check-failed' })
    expect(log.lines()).toMatchObject([{ msg: 'check failed', service: 'disk', errorName: 'TypeError' }])
    expect(log.text()).not.toContain('canary')
  })
})

describe('readiness', () => {
  const { logger } = createLogLines()
  const report = (...reasons: (CheckReason | null)[]) =>
    createReadiness(
      reasons.map((reason, index) => createCheck({ name: `${index}`, look: async () => reason, logger })),
    )()

  test('is what its worst part is', async () => {
    expect(await report(null, null)).toEqual({ status: 'healthy', checks: { 0: HEALTHY, 1: HEALTHY } })
    expect((await report(null, 'narration-behind')).status).toBe('degraded')
    expect(await report('narration-behind', 'no-node-answers', null)).toEqual({
      status: 'unhealthy',
      checks: {
        0: { status: 'degraded', reason: 'narration-behind' },
        1: { status: 'unhealthy', reason: 'no-node-answers' },
        2: HEALTHY,
      },
    })
  })

  test('does not wait longer than one check may take, however many hang', async () => {
    const checks = [hanging(), hanging(), hanging()].map(({ look }, index) =>
      createCheck({ name: `${index}`, look, logger, limitMs: 50 }),
    )
    expect((await createReadiness(checks)()).checks).toEqual({ 0: LATE, 1: LATE, 2: LATE })
  })
})
