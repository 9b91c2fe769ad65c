import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BrokerClock } from '../../../src/broker/index.js'
import { createRunRecords } from '../../../src/server/store/runRecords.js'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import {
  createReconcile,
  createReconcileStateStore,
  isCloseOver,
} from '../../../src/server/trigger/reconcile.js'
import { createRuns } from '../../../src/server/trigger/runner.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { createScriptedEnclave, type Step } from '../../support/scriptedEnclave.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { connectEnclave } from '../../support/triggerHarness.js'

const CHECK_MS = 50
const [MONDAY, TUESDAY] = [new Date('2025-03-03T21:00:00Z'), new Date('2025-03-04T21:00:00Z')]

/** A market whose day the test makes. */
function openMarket(): BrokerClock {
  return {
    timestamp: new Date('2025-03-03T20:00:00Z'),
    isOpen: true,
    nextOpen: new Date('2025-03-04T14:30:00Z'),
    nextClose: MONDAY,
  }
}
const afterClose = { timestamp: new Date('2025-03-03T21:00:01Z'), isOpen: false, nextClose: TUESDAY }

async function setUp(steps: Step[]) {
  const root = await temporaryDirectory()
  const enclave = await createScriptedEnclave(root)
  await enclave.plan({ reconcile: steps })
  const { logger } = createLogLines()
  const stores = await openStores(root)
  const runRecords = createRunRecords({ ...stores, logger })
  const rateLimit = createTriggerRateLimit(0)
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const runner = connectEnclave(enclave, { runRecords, rateLimit, stopping: stopping.signal, logger })
  const state = createReconcileStateStore({ ...stores, logger })
  const market = { clock: openMarket() }
  async function start() {
    const timeouts = { order: 20_000, policy: 20_000, reconcile: 20_000 }
    const runs = createRuns({ runRecords, runner, timeouts, logger })
    const reconcile = createReconcile({
      rateLimit,
      runs,
      clock: { getClock: async () => market.clock },
      state,
      checkMs: CHECK_MS,
      logger,
    })
    for (const run of await runs.adopt(() => true)) reconcile.adopt(run)
    await reconcile.service.start()
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= reconcile.service.stop()
      return stopped
    }
    onTestFinished(stop)
    return { stop }
  }
  const count = async () => (await enclave.jobs()).length
  return { start, market, enclave, state, count, root }
}

describe('after each market close', () => {
  test('one run is made, and none while the market is open', async () => {
    const { start, market, count, state, enclave } = await setUp([{ outcome: 'done' }])
    await start()
    await eventually('the close to come', async () => (await state.load()).nextClose === MONDAY.toISOString())
    expect(await count()).toBe(0)
    market.clock = { ...market.clock, ...afterClose }
    await eventually('the run', async () => (await state.load()).nextClose === TUESDAY.toISOString())
    expect((await state.load()).doneAt).not.toBeNull()
    await sleep(CHECK_MS * 4)
    expect(await enclave.jobs()).toMatchObject([{ job: 'reconcile' }])
  })

  test('one that a stopped server missed is made at the next start', async () => {
    const { start, market, count, state } = await setUp([{ outcome: 'done' }])
    const first = await start()
    await eventually('the close to come', async () => (await state.load()).nextClose === MONDAY.toISOString())
    await first.stop()
    market.clock = { ...market.clock, timestamp: new Date('2025-03-04T15:00:00Z'), nextClose: TUESDAY }
    await start()
    await eventually('the run', async () => (await count()) === 1)
    await eventually('its end', async () => (await state.load()).nextClose === TUESDAY.toISOString())
  })
})

test('a run that failed is not taken for done', async () => {
  const { start, market, state, enclave } = await setUp([{ outcome: 'failed' }])
  market.clock = { ...market.clock, ...afterClose }
  const { stop } = await start()
  await eventually('the run', async () => (await enclave.notes()).some(({ event }) => event === 'ended'))
  await stop()
  expect((await state.load()).doneAt).toBeNull()
})

test('a batch run is due after a close, also one that was not announced', () => {
  const announced = { doneAt: null, nextClose: MONDAY.toISOString() }
  expect(isCloseOver(announced, openMarket(), true)).toBe(false)
  expect(isCloseOver(announced, afterClose, false)).toBe(true)
  expect(isCloseOver({ ...announced, nextClose: TUESDAY.toISOString() }, afterClose, false)).toBe(false)
  // Closed early, without having said so.
  expect(isCloseOver({ ...announced, nextClose: TUESDAY.toISOString() }, afterClose, true)).toBe(true)
  // The very first start.
  expect(isCloseOver({ doneAt: null, nextClose: null }, afterClose, false)).toBe(true)
  expect(isCloseOver({ doneAt: null, nextClose: null }, openMarket(), false)).toBe(false)
})
