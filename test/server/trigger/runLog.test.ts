import { describe, expect, test } from 'vitest'
import type { RunResult } from '../../../src/protocol/job.js'
import { logRunEnd } from '../../../src/server/trigger/runner.js'
import { createLogLines } from '../../support/logLines.js'

const LEVELS = { info: 30, warn: 40, error: 50 }

function lineOf(how: 'result' | 'timeout' | 'not-started', result: RunResult | null) {
  const log = createLogLines()
  logRunEnd(log.logger, 'a run ended', { how, result }, { runId: 'r' })
  return log.lines()
}

describe('the line at the end of a run', () => {
  test.each<[RunResult, keyof typeof LEVELS]>([
    [{ outcome: 'done', code: 'reclaimed-after-fill' }, 'error'],
    [{ outcome: 'failed', code: 'reclaimed-after-fill' }, 'error'],
    [{ outcome: 'failed', code: 'ledger-unreadable' }, 'error'],
    [{ outcome: 'failed', code: 'broker-mismatch' }, 'error'],
    [{ outcome: 'queued', code: 'broker-unauthorized' }, 'error'],
    [{ outcome: 'queued', code: 'broker-unreadable' }, 'error'],
    [{ outcome: 'queued', code: 'broker-refused' }, 'warn'],
    [{ outcome: 'settled', code: 'cost-over-notional' }, 'warn'],
    [{ outcome: 'failed', code: 'relay-refused' }, 'warn'],
    [{ outcome: 'queued', code: 'paused' }, 'info'],
    [{ outcome: 'rejected', code: 'not-admin' }, 'info'],
  ])('has the code of %j, at its level', (result, level) => {
    expect(lineOf('result', result)).toMatchObject([
      { level: LEVELS[level], msg: 'a run ended', runId: 'r', code: result.code },
    ])
  })

  test('has the code of what a run left that was then stopped', () => {
    const line = lineOf('timeout', { outcome: 'failed', code: 'reclaimed-after-fill' })
    expect(line).toMatchObject([{ level: LEVELS.error, code: 'reclaimed-after-fill' }])
  })

  test('is a warning without a result, and none with a good one', () => {
    expect(lineOf('not-started', null)).toMatchObject([{ level: LEVELS.warn }])
    expect(lineOf('result', { outcome: 'settled' })).toMatchObject([{ level: LEVELS.info }])
  })
})
