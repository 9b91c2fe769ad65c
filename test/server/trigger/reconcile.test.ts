import { expect, test } from 'vitest'
import * as z from 'zod'
import type { BrokerClock } from '../../../src/broker/index.js'
import { isCloseOver } from '../../../src/server/trigger/reconcile.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { setUpInstitution } from '../../support/institution.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { storedText } from '../../support/storedRows.js'
import { triggerSetting } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const time = z.string().nullable().default(null)
const stateSchema = z.object({ nextClose: time, doneAt: time })
const [MONDAY, TUESDAY] = [new Date('2025-03-03T21:00:00Z'), new Date('2025-03-04T21:00:00Z')]
const openMarket: BrokerClock = {
  timestamp: new Date('2025-03-03T20:00:00Z'),
  isOpen: true,
  nextOpen: new Date('2025-03-04T14:30:00Z'),
  nextClose: MONDAY,
}
const afterClose = { timestamp: new Date('2025-03-03T21:00:01Z'), isOpen: false, nextClose: TUESDAY }

async function setUp(steps: Step[]) {
  const { start, root, keys, enclave } = await triggerSetting(chain(), { reconcile: steps })
  const load = () => stateSchema.parse(JSON.parse(storedText(root, 'state', 'reconcile') ?? '{}'))
  return {
    ...{ load, keys, enclave },
    start: (clock: object) => start({ marketClock: { getClock: async () => ({ ...openMarket, ...clock }) } }),
    until: (close: Date) => eventually('the close to come', () => load().nextClose === close.toISOString()),
  }
}

test('one reconcile runs after each close, also after one that a stopped server missed, and none while the market is open', async () => {
  const { start, load, keys, until } = await setUp([{ outcome: 'done' }])
  const first = await start(openMarket)
  await until(MONDAY)
  await first.stop()
  expect(await keys()).toEqual([])
  const second = await start({ timestamp: new Date('2025-03-04T15:00:00Z'), nextClose: TUESDAY })
  await until(TUESDAY)
  await second.stop()
  expect(load().doneAt).not.toBeNull()
  const third = await start({ ...afterClose, nextClose: new Date('2025-03-05T21:00:00Z') })
  await eventually('a check', () => load().nextClose?.startsWith('2025-03-05'))
  await third.stop()
  expect(await keys()).toEqual(['reconcile'])
})

test('a run that failed is not taken for done', async () => {
  const { start, load, enclave } = await setUp([{ outcome: 'failed' }])
  const { stop } = await start(afterClose)
  await eventually('the run', async () => (await enclave.notes()).some(({ event }) => event === 'ended'))
  await stop()
  expect(load().doneAt).toBeNull()
})

test('a batch run is due after a close, also one that was not announced', () => {
  const announced = { doneAt: null, nextClose: MONDAY.toISOString() }
  expect(isCloseOver(announced, openMarket, true)).toBe(false)
  expect(isCloseOver(announced, afterClose, false)).toBe(true)
  expect(isCloseOver({ ...announced, nextClose: TUESDAY.toISOString() }, afterClose, false)).toBe(false)
  // Closed early, without having said so.
  expect(isCloseOver({ ...announced, nextClose: TUESDAY.toISOString() }, afterClose, true)).toBe(true)
  // The very first start.
  expect(isCloseOver({ doneAt: null, nextClose: null }, afterClose, false)).toBe(true)
  expect(isCloseOver({ doneAt: null, nextClose: null }, openMarket, false)).toBe(false)
})
