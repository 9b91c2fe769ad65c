import { expect, onTestFinished, test } from 'vitest'
import type { OpenedOrder } from '../../../src/server/escrow/escrowLogs.js'
import { StorageError } from '../../../src/server/store/engine.js'
import { createOrderRecords } from '../../../src/server/store/orderRecords.js'
import { createOrderRuns, RETRY_TIMES } from '../../../src/server/trigger/orderRun.js'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import type { RunRequest } from '../../../src/server/trigger/runner.js'
import { createScheduler } from '../../../src/server/trigger/scheduler.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const A = bytes32('A')

test('an order that was deferred as its record failed, and lost it, runs without its envelope once a reorganization opens it anew', async () => {
  const { logger } = createLogLines()
  const records = createOrderRecords({ ...(await openStores(await temporaryDirectory())), logger })
  let fails = true
  const get: typeof records.get = async (orderId) => {
    if (fails) throw new StorageError(new Error('injected'))
    return records.get(orderId)
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
    records: { ...records, get },
    orderRuns,
    rateLimit: createTriggerRateLimit(0),
    maxRuns: 4,
    times: RETRY_TIMES,
    onFinal: () => undefined,
    logger,
  })
  onTestFinished(() => scheduler.stop())
  scheduler.release()
  const opened: OpenedOrder = {
    orderId: A,
    account: `0x${'aa'.repeat(20)}`,
    commit: bytes32('its envelope'),
    position: { block: 1, logIndex: 0 },
  }
  await scheduler.resume(opened)
  fails = false
  await scheduler.opened({ ...opened, position: { block: 2, logIndex: 0 } })
  // The enclave may hold it.
  await eventually('its run', () => requests.length > 0)
  expect(requests[0]).toMatchObject({ job: 'order', orderId: A, envelope: undefined })
  expect((await records.get(A))?.triggers.at(-1)?.reason).toBe('recovered')
})
