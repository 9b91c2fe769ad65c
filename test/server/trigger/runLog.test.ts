import { expect, test } from 'vitest'
import { logRunEnd, type RunEnd } from '../../../src/server/trigger/runner.js'
import { createLogLines } from '../../support/logLines.js'

const [info, warn, error] = [30, 40, 50]

test.each<[RunEnd, number]>([
  [{ how: 'result', result: { outcome: 'done', code: 'reclaimed-after-fill' } }, error],
  [{ how: 'timeout', result: { outcome: 'failed', code: 'broker-mismatch' } }, error],
  [{ how: 'result', result: { outcome: 'queued', code: 'broker-unauthorized' } }, error],
  [{ how: 'result', result: { outcome: 'queued', code: 'broker-refused' } }, warn],
  [{ how: 'result', result: { outcome: 'settled', code: 'cost-over-notional' } }, warn],
  [{ how: 'not-started', result: null }, warn],
  [{ how: 'result', result: { outcome: 'rejected', code: 'not-admin' } }, info],
  [{ how: 'result', result: { outcome: 'settled' } }, info],
])('the line at the end of a run has its code and level: %j', (end, level) => {
  const log = createLogLines()
  logRunEnd(log.logger, 'a run ended', end, { runId: 'r' })
  const { code } = end.result ?? {}
  expect(log.lines()).toMatchObject([{ level, msg: 'a run ended', runId: 'r', ...(code && { code }) }])
})
