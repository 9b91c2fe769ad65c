import { rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { RECLAIM_DELAY } from '../../../src/protocol/reclaimDelay.js'
import { createOrderRecords, emptyOrderRecord } from '../../../src/server/store/orderRecords.js'
import { createOrderRuns } from '../../../src/server/trigger/orderRun.js'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import { createScheduler } from '../../../src/server/trigger/scheduler.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { refundOrder, settleOrder } from '../../support/orderEnds.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { openIds } from '../../support/storedRows.js'
import { createRefusingEngine, openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { outcomes, PLACED, TIMES, triggerSetting, triggerUnderTest } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B, C] = [bytes32('A'), bytes32('B'), bytes32('C')]
const QUEUED: Step = { ...PLACED, outcome: 'queued' }

const setUp = (plan: Record<string, Step[]> = {}, changes: Parameters<typeof triggerUnderTest>[2] = {}) =>
  triggerUnderTest(chain(), plan, changes)

test('the orders of one account wait for one that has failed, and only five times', async () => {
  const { place, until, keys } = await setUp({ [A]: [{ outcome: 'failed' }] })
  await place('alice', A)
  await until(A, 'a failure', (record) => outcomes(record).includes('failed'))
  await place('alice', B)
  await until(B, 'the later order', (record) => outcomes(record)[0] === 'placed')
  expect((await keys()).slice(0, 6)).toEqual([A, A, A, A, A, B])
  const { triggers } = await until(A, 'one more try', ({ triggers }) => triggers.length > 5)
  expect(triggers.slice(0, 3).map(({ attempt, reason }) => `${attempt} ${reason}`)).toEqual([
    ...['1 received', '2 retry', '3 retry'],
  ])
})

test('the orders of several accounts run side by side, as many as are allowed', async () => {
  const directory = await temporaryDirectory()
  const gate = { ...PLACED, untilFile: `${directory}/go` }
  const { place, until, enclave } = await setUp({ any: [gate] }, { env: { ENCLAVE_MAX_RUNS: '2' } })
  await place('alice', A)
  await place('bob', B)
  await place('carol', C)
  await eventually('two runs', async () => (await enclave.notes()).length === 2)
  await enclave.plan({ any: [PLACED] })
  await writeFile(`${directory}/go`, '')
  await until(C, 'the third', (record) => outcomes(record)[0] === 'placed')
  const events = (await enclave.notes()).map(({ event }) => event)
  expect(events.slice(0, 3)).toEqual(['started', 'started', 'ended'])
})

/** Sets this process's clock back by an hour, and no timer: it goes on from there. */
function setBack(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000, shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
}

test.each([
  ['is set back by an hour during a wait', false],
  ['was wrong by an hour when a wait began', true],
])('a clock that %s makes no follow-up wait for longer', async (_what, isWrongFirst) => {
  const retryAt = Math.floor(Date.now() / 1_000) + (isWrongFirst ? 0 : 2)
  if (isWrongFirst) setBack()
  const { place, until } = await setUp({ [A]: [{ outcome: 'queued', retryAt }, PLACED] })
  await place('alice', A)
  await until(A, 'the first outcome', (record) => outcomes(record)[0] === 'queued')
  if (isWrongFirst) vi.useRealTimers()
  else setBack()
  await until(A, 'the follow-up', (record) => outcomes(record)[1] === 'placed')
})

test('a run that goes wrong is recorded as failed, whatever it does, and the order goes on', async () => {
  const { place, until } = await setUp({
    [A]: [{ act: 'throw' }, { outcome: 'accepted' }, { outcome: 'failed' }, PLACED],
  })
  await place('alice', A)
  const record = await until(A, 'a good end', (found) => outcomes(found).includes('placed'))
  expect(outcomes(record)).toEqual(['failed', 'failed', 'failed', 'placed'])
})

describe('the end of a run that cannot be written', () => {
  async function setUpFailing() {
    const directory = await temporaryDirectory()
    const untilFile = `${directory}/go`
    const stores = await openStores(`${directory}/data`)
    const disk = { fails: false }
    const engine = createRefusingEngine(
      stores.engine,
      (table, { id }) => disk.fails && table === 'orders' && id === A,
    )
    const sealed = await sealOrder('why')
    const started = await setUp(
      { [A]: [{ ...QUEUED, notice: sealed, untilFile }] },
      { engine, env: { ENCLAVE_MAX_RUNS: '1' } },
    )
    await started.place('alice', A)
    await eventually('the run', async () => (await started.enclave.notes()).length > 0)
    disk.fails = true
    await writeFile(untilFile, '')
    await eventually('the failure', () => started.logText().includes('run not recorded'))
    return { ...started, disk, sealed }
  }

  test('is written once that is possible; only its account waits until then', async () => {
    const { place, until, keys, disk, sealed } = await setUpFailing()
    await place('alice', B)
    await place('bob', C)
    await until(C, 'its run', (record) => outcomes(record)[0] === 'placed')
    expect(await keys()).toEqual([A, C])
    disk.fails = false
    const record = await until(A, 'the outcome', (found) => outcomes(found)[0] === 'queued')
    expect(record.notice).toEqual(sealed)
    await until(B, 'its run', (found) => outcomes(found)[0] === 'placed')
  })

  test('is left to the next server, which need not wait for this one', async () => {
    const { stop, start, disk, sealed } = await setUpFailing()
    await stop()
    disk.fails = false
    const { until } = await start()
    const record = await until(A, 'the outcome', (found) => outcomes(found)[0] === 'queued')
    expect(record.notice).toEqual(sealed)
  })
})

describe('an escrow that ends', () => {
  async function reclaim(orderId: Hex): Promise<void> {
    const order = await chain().read('escrow', 'orders', orderId)
    const deadline = Array.isArray(order) ? Number(order[2]) : 0
    await chain().mineAt(deadline + RECLAIM_DELAY)
    await chain().send('alice', 'escrow', 'reclaim', orderId)
  }

  test('by a reclaim runs once more, without its envelope, and is then final', async () => {
    const { place, until, enclave, root } = await setUp({
      [A]: [PLACED, { outcome: 'failed' }, { outcome: 'done' }],
    })
    await place('alice', A)
    await until(A, 'the first outcome', (record) => outcomes(record)[0] === 'placed')
    await reclaim(A)
    const record = await until(A, 'the end', (found) => outcomes(found).includes('done'))
    expect(record.triggers.map(({ reason }) => reason)).toEqual(['received', 'reclaimed', 'retry'])
    expect((await enclave.jobs()).map((job) => job.job === 'order' && job.envelope !== undefined)).toEqual([
      true,
      false,
      false,
    ])
    await eventually('no open record', () => openIds(root, 'orders').length === 0)
    expect((await until(A, 'it', () => true)).nextTriggerAt).toBeNull()
  })

  test('by a reclaim that the server missed, with its cache lost, runs once more', async () => {
    const { place, until, stop, start, keys, root } = await setUp({ [A]: [PLACED, { outcome: 'done' }] })
    await place('alice', A)
    await until(A, 'the first outcome', (record) => outcomes(record)[0] === 'placed')
    await openFor(chain(), 'bob', B, await sealOrder('refused'))
    await stop()
    await refundOrder(chain(), B)
    await reclaim(A)
    await rm(root, { recursive: true })
    const second = await start()
    const record = await second.until(A, 'the end', (found) => outcomes(found).includes('done'))
    expect(record.triggers.map(({ reason }) => reason)).toEqual(['reclaimed'])
    await eventually('no open record', () => openIds(root, 'orders').length === 0)
    await second.stop()
    const third = await start()
    await third.place('bob', C)
    await third.until(C, 'its run', (found) => outcomes(found)[0] === 'placed')
    // An order that the enclave itself refunded needs no run, and one that has run needs no other.
    expect(await keys()).toEqual([A, A, C])
  })

  test('without ever having been run is final at once', async () => {
    const { until, keys, store, place, root } = await setUp()
    await openFor(chain(), 'alice', A, await sealOrder('another'))
    await store(A, await sealOrder('not what the escrow wants'))
    await reclaim(A)
    await eventually('no open record', () => openIds(root, 'orders').length === 0)
    await place('alice', B)
    await until(B, 'a later run', (record) => outcomes(record)[0] === 'placed')
    expect(await keys()).toEqual([B])
  })
})

test('a market that opens before its time sets those going that wait for it, and the broker is asked only while any does', async () => {
  const FAR_AHEAD = new Date(4_000_000_000_000)
  const market = { isOpen: true }
  const getClock = vi.fn(async () => ({
    ...market,
    timestamp: new Date(),
    nextOpen: FAR_AHEAD,
    nextClose: FAR_AHEAD,
  }))
  const { place, until } = await setUp(
    { [A]: [{ ...QUEUED, code: 'market-closed' }, PLACED], [B]: [{ ...QUEUED, code: 'paused' }] },
    { marketClock: { getClock }, env: { MARKET_CLOCK_MAX_AGE: '20ms' } },
  )
  await place('bob', B)
  await until(B, 'its wait', (record) => record.triggers[0]?.waitsFor === 'paused')
  market.isOpen = false
  const asked = getClock.mock.calls.length
  await sleep(100)
  expect(getClock).toHaveBeenCalledTimes(asked)
  await place('alice', A)
  await eventually('a look', () => getClock.mock.calls.length > asked + 1)
  expect(outcomes(await until(A, 'its wait', () => true))).toEqual(['queued'])
  market.isOpen = true
  await until(A, 'its run', (record) => outcomes(record)[1] === 'placed')
  expect(outcomes(await until(B, 'its wait', () => true))).toEqual(['queued'])
})

test.each(['removeUnrun', 'finish'] as const)(
  'an order that a reorganization opens again during %s at its end is tracked on',
  async (step) => {
    const { engine } = await openStores(await temporaryDirectory())
    const { logger } = createLogLines()
    const stored = createOrderRecords({ engine, logger })
    await stored.update(A, () => emptyOrderRecord(A))
    const order = { orderId: A, account: A, commit: A, position: { block: 1, logIndex: 0 } } as const
    const finish = vi.fn(stored.finish)
    const records = { ...stored, finish, [step]: () => scheduler.opened(order) }
    const runs = { start: () => Promise.reject(new Error('none is due')) }
    const scheduler = createScheduler({
      ...{ records, times: TIMES, logger, maxRuns: 1, onFinal: () => undefined },
      orderRuns: createOrderRuns({ records, runs, times: TIMES, logger }),
      rateLimit: createTriggerRateLimit(0),
    })
    await scheduler.opened(order)
    await scheduler.closed(order, 'SETTLED')
    expect(scheduler.find(A)).toMatchObject({ state: 'OPEN' })
    expect(finish).not.toHaveBeenCalled()
  },
)

/** On a disk that refuses to keep one order's record open or closed: as often as `failing` says. */
async function setUpOnDisk(plan: Record<string, Step[]>, changes: Parameters<typeof triggerSetting>[2] = {}) {
  const setting = await triggerSetting(chain(), plan, changes)
  const stores = await openStores(setting.root)
  const failing = { update: 0, finish: 0 }
  const engine = createRefusingEngine(stores.engine, (table, { id, isOpen }) => {
    const write = isOpen ? 'update' : 'finish'
    if (table !== 'orders' || id !== A || failing[write] === 0) return false
    failing[write]--
    return true
  })
  return { ...setting, ...(await setting.start({ engine })), failing }
}

test('an order that waits for one that failed runs when that one is settled by somebody else', async () => {
  const times = { ...TIMES, failedMs: 600_000, failedMaxMs: 600_000 }
  const { place, until, trigger, keys } = await setUpOnDisk({ [A]: [{ outcome: 'failed' }] }, { times })
  await place('alice', A)
  await until(A, 'its failure', (record) => outcomes(record)[0] === 'failed')
  await place('alice', B)
  await eventually('an order that waits', async () => trigger.backlog().orders?.due === 1)
  await settleOrder(chain(), A)
  await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
  expect(await keys()).toEqual([A, B])
})

// An order with a later nonce that is written ahead first has the earlier one refused.
test('an order that waits for a named reason is not overtaken by one that comes later', async () => {
  const retryAt = Math.ceil(Date.now() / 1_000) + 1
  const { place, until, keys } = await setUpOnDisk({
    [A]: [{ outcome: 'queued', code: 'paused', retryAt }, PLACED],
  })
  await place('alice', A)
  await until(A, 'its wait', (record) => record.triggers[0]?.waitsFor === 'paused')
  await place('alice', B)
  await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
  expect(await keys()).toEqual([A, A, B])
})

test('an order whose start the disk refuses is not overtaken, and the refusal is logged once', async () => {
  const { store, until, failing, keys, logText } = await setUpOnDisk({})
  const envelopes = [await sealOrder('A'), await sealOrder('B')] as const
  await store(A, envelopes[0])
  await store(B, envelopes[1])
  failing.update = 2
  await openFor(chain(), 'bob', A, envelopes[0])
  await openFor(chain(), 'bob', B, envelopes[1])
  await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
  expect(await keys()).toEqual([A, B])
  expect(logText().match(/run not started/g)).toHaveLength(1)
  expect(logText()).toContain('run started')
})

test('an order that was settled during its run is put away once the disk takes that, and holds up no other until then', async () => {
  const { place, until, trigger, enclave, directory, failing, keys, root, logText } = await setUpOnDisk({})
  const untilFile = `${directory}/go`
  await enclave.plan({ [A]: [{ outcome: 'settled', untilFile }] })
  await place('carol', A)
  await eventually('its run', async () => (await keys()).length === 1)
  await settleOrder(chain(), A)
  await eventually('its end on the chain', async () => trigger.knownEscrow(A)?.state === 'SETTLED')
  failing.finish = Number.POSITIVE_INFINITY
  await writeFile(untilFile, '')
  await eventually('its deferral', () => logText().includes('order deferred: its record fails'))
  await place('carol', B)
  await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
  failing.finish = 0
  await eventually('no open record of it', () => !openIds(root, 'orders').includes(A))
  expect(await keys()).toEqual([A, B])
})
