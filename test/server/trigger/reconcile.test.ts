import { expect, onTestFinished, test } from 'vitest'
import type { BrokerClock } from '../../../src/broker/index.js'
import type { Outcome } from '../../../src/protocol/job.js'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import {
  createReconcile,
  createReconcileStateStore,
  isCloseOver,
} from '../../../src/server/trigger/reconcile.js'
import type { Run } from '../../../src/server/trigger/runner.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

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

/** Runs that end with that outcome at once. */
async function setUp(outcome: Outcome) {
  const { logger } = createLogLines()
  const state = createReconcileStateStore({ ...(await openStores(await temporaryDirectory())), logger })
  const market = { clock: openMarket(), asked: 0 }
  const discarded: string[] = []
  const run = (runId: string): Run => ({
    record: { job: 'reconcile', runId, startedAt: MONDAY.toISOString(), stopAt: 0, process: null },
    end: Promise.resolve({ how: 'result', result: { outcome } }),
    seenOnChain: () => expect.unreachable('a reconcile has no order'),
    discard: async () => void discarded.push(runId),
  })
  async function start() {
    const { service } = createReconcile({
      rateLimit: createTriggerRateLimit(0),
      runs: { start: async ({ job }) => run(job) },
      clock: {
        async getClock() {
          market.asked++
          return market.clock
        },
      },
      state,
      checkMs: 10,
      logger,
    })
    await service.start()
    let stopped: Promise<void> | undefined
    const stop = () => (stopped ??= service.stop())
    onTestFinished(stop)
    return { stop }
  }
  const nextClose = async () => (await state.load()).nextClose
  return { start, market, state, discarded, nextClose }
}

test('one run is made after each market close, and none while the market is open', async () => {
  const { start, market, state, discarded, nextClose } = await setUp('done')
  await start()
  await eventually('the close to come', async () => (await nextClose()) === MONDAY.toISOString())
  expect(discarded).toEqual([])
  market.clock = { ...market.clock, ...afterClose }
  await eventually('the run', async () => (await nextClose()) === TUESDAY.toISOString())
  expect((await state.load()).doneAt).not.toBeNull()
  const { asked } = market
  await eventually('further checks', () => market.asked > asked + 3)
  expect(discarded).toEqual(['reconcile'])
})

test('a reconcile that a stopped server missed is made at the next start', async () => {
  const { start, market, discarded, nextClose } = await setUp('done')
  const first = await start()
  await eventually('the close to come', async () => (await nextClose()) === MONDAY.toISOString())
  await first.stop()
  market.clock = { ...market.clock, timestamp: new Date('2025-03-04T15:00:00Z'), nextClose: TUESDAY }
  await start()
  await eventually('its end', async () => (await nextClose()) === TUESDAY.toISOString())
  expect(discarded).toHaveLength(1)
})

test('a run that failed is not taken for done', async () => {
  const { start, market, state, discarded } = await setUp('failed')
  market.clock = { ...market.clock, ...afterClose }
  const { stop } = await start()
  await eventually('the run', () => discarded.length > 0)
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
