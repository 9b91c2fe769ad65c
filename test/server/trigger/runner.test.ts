import { expect, onTestFinished, test } from 'vitest'
import { createRunRecords } from '../../../src/server/store/runRecords.js'
import { createHttpRunner } from '../../../src/server/trigger/httpRunner.js'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import { createRuns } from '../../../src/server/trigger/runner.js'
import { Secret } from '../../../src/service/secret.js'
import { createLogLines } from '../../support/logLines.js'
import { startScriptedDoor } from '../../support/scriptedDoor.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'
import { createFailingEngine, createLateEngine, openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

/** Runs at an enclave that takes every job and posts nothing about it. */
async function setUp() {
  const root = await temporaryDirectory()
  const { url } = await startScriptedDoor([202])
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const { logger } = createLogLines()
  const { engine } = await openStores(root)
  const late = createLateEngine(engine)
  const failing = createFailingEngine(late.engine)
  const runRecords = createRunRecords({ engine: failing.engine, logger })
  const runner = createHttpRunner({
    url: async () => url,
    secret: new Secret(RUN_SECRET),
    runRecords,
    rateLimit: createTriggerRateLimit(0),
    stopping: stopping.signal,
    logger,
  })
  return {
    runRecords,
    runner,
    left: failing.left,
    late,
    runs: createRuns({ runRecords, runner, timeoutMs: 60_000, logger }),
  }
}

test('one run of the reconcile is under way, also when the record of an ended one could not be removed', async () => {
  const { runRecords, runs, runner, left } = await setUp()
  const run = await runs.start({ job: 'reconcile' })
  await expect(runs.start({ job: 'reconcile' })).rejects.toMatchObject({ code: 'UNIQUE_KEY_IN_USE' })
  await runner.receiveResult(run.record.runId, { outcome: 'rejected', code: 'wrong-version' })
  await run.end
  left.writes = 1
  await run.discard()
  expect(await runRecords.all()).toHaveLength(1)
  const next = await runs.start({ job: 'reconcile' })
  expect((await runRecords.all()).map(({ runId }) => runId)).toEqual([next.record.runId])
})

test('a start whose record is written only after the next start has looked for it holds up no account', async () => {
  const { runRecords, runs, late } = await setUp()
  for (let start = 0; start < 2; start++) {
    late.delay()
    await expect(runs.start({ job: 'reconcile' })).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  }
  await late.land()
  await expect(runs.start({ job: 'reconcile' })).rejects.toMatchObject({ code: 'UNIQUE_KEY_IN_USE' })
  await runs.clear()
  const next = await runs.start({ job: 'reconcile' })
  await runs.clear()
  expect((await runRecords.all()).map(({ runId }) => runId)).toEqual([next.record.runId])
})
