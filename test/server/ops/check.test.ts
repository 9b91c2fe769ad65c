import { describe, expect, test } from 'vitest'
import { createCheck, type Look } from '../../../src/server/ops/checks.js'
import { createLogLines } from '../../support/logLines.js'

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

describe('a check', () => {
  test('serves all who ask at once, and shortly after, by one look', async () => {
    const { check, looks } = setUp(async () => 'store-not-writable', { freshMs: 3_600_000 })
    const results = await Promise.all([check.result(), check.result()])
    expect([...results, await check.result()]).toEqual(
      Array(3).fill({ status: 'unhealthy', reason: 'store-not-writable' }),
    )
    expect(looks()).toBe(1)
  })

  test('is unhealthy when it throws, and logged without the words of the failure', async () => {
    const { check, log } = setUp(async () => {
      throw new TypeError('canary')
    })
    expect(await check.result()).toEqual({ status: 'unhealthy', reason: 'check-failed' })
    expect(log.lines()).toMatchObject([{ msg: 'check failed', service: 'disk', errorName: 'TypeError' }])
    expect(log.text()).not.toContain('canary')
  })
})
