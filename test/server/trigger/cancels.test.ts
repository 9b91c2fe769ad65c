// Cancels as the server that runs the orders meets them: known before the order, during a run, from another server.
import { expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createOrderRecords, type OrderRecords } from '../../../src/server/store/orderRecords.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { settleOrder } from '../../support/orderEnds.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { createRefusingEngine, openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { PLACED, type TriggerChanges, triggerUnderTest } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B] = [bytes32('A'), bytes32('B')]

/** As another server stores one. */
async function keepIn({ cancels }: Pick<OrderRecords, 'cancels'>, orderId: Hex) {
  const envelope = await sealOrder(`cancel ${orderId}`)
  const commit = commitOf(envelope)
  const receivedAt = new Date().toISOString()
  await cancels.keep({ orderId, envelope, commit, receivedAt })
  return commit
}

async function setUp(plan: Record<string, Step[]> = {}, changes: TriggerChanges = {}) {
  const started = await triggerUnderTest(chain(), plan, changes)
  const keep = (orderId: Hex) => keepIn(started.records, orderId)
  return {
    ...started,
    keep,
    async cancel(orderId: Hex) {
      started.trigger.onCancelled(orderId, await keep(orderId))
    },
    /** For each run, its order and whether it had the cancel. */
    runs: async () =>
      (await started.enclave.jobs()).map((job) =>
        job.job === 'order' ? [job.orderId, job.cancel !== undefined] : [],
      ),
  }
}

test('a cancel that another server stored is found, and its order runs with it', async () => {
  const { place, until, keep, runs } = await setUp()
  await place('alice', A)
  await until(A, 'its first run', ({ triggers }) => triggers[0]?.outcome === 'placed')
  await keep(A)
  await until(A, 'another run', ({ triggers }) => triggers[1]?.outcome === 'placed')
  expect(await runs()).toEqual([
    [A, false],
    [A, true],
  ])
})

test('a cancel that was stored before the order was seen is in its first run', async () => {
  const { store, cancel, until, runs } = await setUp()
  const envelope = await sealOrder(A)
  await store(A, envelope)
  await cancel(A)
  await openFor(chain(), 'alice', A, envelope)
  await until(A, 'its run', ({ triggers }) => triggers[0]?.outcome === 'placed')
  expect(await runs()).toEqual([[A, true]])
})

test('an order whose cancel could not be opened runs once more when another takes its place', async () => {
  const { cancel, runs } = await setUp({ [A]: [{ outcome: 'rejected' }, { outcome: 'rejected' }, PLACED] })
  await openFor(chain(), 'alice', A, await sealOrder(A))
  await cancel(A)
  await eventually('its run', async () => (await runs()).length === 1)
  await cancel(A)
  await eventually('another run', async () => (await runs()).length === 2)
  await cancel(A)
  await eventually('a third run', async () => (await runs()).length === 3)
  expect(await runs()).toEqual([
    [A, true],
    [A, true],
    [A, true],
  ])
})

test('a later run asks for a cancel that is closed: a reorganization may have opened its order again', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  const records = createOrderRecords({ engine, logger: createLogLines().logger })
  await keepIn(records, A)
  await records.cancels.close(A)
  const { store, until, runs } = await setUp({ [A]: [{ outcome: 'placed' }, PLACED] }, { engine })
  const envelope = await sealOrder(A)
  await store(A, envelope)
  await openFor(chain(), 'alice', A, envelope)
  await until(A, 'another run', ({ triggers }) => triggers[1]?.outcome === 'placed')
  expect(await runs()).toEqual([
    [A, false],
    [A, true],
  ])
})

test('a cancel whose record fails keeps no other one from being closed', async () => {
  const stores = await openStores(await temporaryDirectory())
  const engine = createRefusingEngine(
    stores.engine,
    (table, { id, isOpen }) => table === 'cancels' && id === A && !isOpen,
  )
  const { place, until, cancel, records, logText } = await setUp({}, { engine })
  for (const [who, orderId] of [
    ['alice', A],
    ['bob', B],
  ] as const) {
    await place(who, orderId)
    await cancel(orderId)
    await until(orderId, 'a run', ({ triggers }) => triggers.at(-1)?.outcome === 'placed')
    await settleOrder(chain(), orderId)
  }
  await eventually("B's cancel closed", async () => (await records.cancels.openIds()).join() === A)
  expect(logText().split('cancel not closed')).toHaveLength(2)
})
