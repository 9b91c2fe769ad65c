// Orders that were put off as their records failed, whose escrows a reorganization of the chain opens anew.
import { expect, onTestFinished, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import type { OpenedOrder } from '../../../src/server/escrow/escrowLogs.js'
import { StorageError } from '../../../src/server/store/engine.js'
import {
  createOrderRecords,
  emptyOrderRecord,
  type OrderRecord,
} from '../../../src/server/store/orderRecords.js'
import { createOrderRuns, RETRY_TIMES } from '../../../src/server/trigger/orderRun.js'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import type { RunRequest } from '../../../src/server/trigger/runner.js'
import { createScheduler } from '../../../src/server/trigger/scheduler.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const A = bytes32('A')
const startedAt = '2026-03-02T15:00:00.000Z'

/** Runs nothing: `requests` has the runs that were to begin. */
async function setUp() {
  const { logger } = createLogLines()
  const records = createOrderRecords({ ...(await openStores(await temporaryDirectory())), logger })
  const disk: { fails: 'get' | 'finish' | null } = { fails: 'get' }
  function failOrNot(what: typeof disk.fails): void {
    if (disk.fails === what) throw new StorageError(new Error('injected'))
  }
  const get: typeof records.get = async (orderId) => {
    failOrNot('get')
    return records.get(orderId)
  }
  const finish: typeof records.finish = async (orderId) => {
    failOrNot('finish')
    return records.finish(orderId)
  }
  const requests: RunRequest[] = []
  const orderRuns = createOrderRuns({
    records,
    runs: {
      async start(request) {
        requests.push(request)
        throw new StorageError(new Error('nothing is run here'))
      },
    },
    times: RETRY_TIMES,
    logger,
  })
  const scheduler = createScheduler({
    records: { ...records, get, finish },
    orderRuns,
    rateLimit: createTriggerRateLimit(0),
    maxRuns: 4,
    times: RETRY_TIMES,
    onFinal: () => undefined,
    logger,
  })
  onTestFinished(() => scheduler.stop())
  scheduler.release()
  const envelope = await sealOrder('an order')
  const opened: OpenedOrder = {
    orderId: A,
    account: `0x${'aa'.repeat(20)}`,
    commit: commitOf(envelope),
    position: { block: 1, logIndex: 0 },
  }
  await scheduler.resume(opened)
  disk.fails = null
  const openedAnew = () => scheduler.opened({ ...opened, position: { block: 2, logIndex: 0 } })
  const update = (change: (record: OrderRecord) => OrderRecord) =>
    records.update(A, () => change(emptyOrderRecord(A)))
  const candidate = { envelope, commit: opened.commit, receivedAt: startedAt }
  return { scheduler, records, disk, requests, openedAnew, update, candidate, opened }
}

async function lastReason(records: { get(orderId: Hex): Promise<OrderRecord | undefined> }) {
  return (await records.get(A))?.triggers.at(-1)?.reason
}

test('one whose record is lost runs without its envelope, as the enclave may hold it', async () => {
  const { records, requests, openedAnew } = await setUp()
  await openedAnew()
  await eventually('its run', () => requests.length > 0)
  expect(requests[0]).toMatchObject({ job: 'order', orderId: A, envelope: undefined })
  expect(await lastReason(records)).toBe('recovered')
})

test('one whose end was not put away, and is taken back, runs with its envelope', async () => {
  const { scheduler, disk, requests, openedAnew, update, candidate, opened } = await setUp()
  const placed = {
    attempt: 1,
    reason: 'received',
    startedAt,
    finishedAt: startedAt,
    outcome: 'placed',
  } as const
  await update((record) => ({
    ...record,
    candidates: [candidate],
    nextTriggerAt: '2096-03-02T15:00:00.000Z',
    triggers: [placed],
  }))
  await scheduler.retry()
  await update((record) => ({ ...record, candidates: [candidate], triggers: [placed] }))
  disk.fails = 'finish'
  await scheduler.closed(opened, 'SETTLED')
  expect(scheduler.find(A)).toMatchObject({ state: 'SETTLED' })
  disk.fails = null
  await openedAnew()
  await eventually('its run', () => requests.length > 0)
  expect(requests[0]).toMatchObject({ envelope: candidate.envelope })
  expect(scheduler.find(A)).toMatchObject({ state: 'OPEN' })
})
