// Cancels as the server that runs the orders meets them: known before the order, during a run, from another server.
import { expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { refundOrder } from '../../support/orderEnds.js'
import { createScriptedEnclave, type Step } from '../../support/scriptedEnclave.js'
import { openIds } from '../../support/storedRows.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B] = [bytes32('A'), bytes32('B')]
const FAR = 4_000_000_000
const PLACED: Step = { outcome: 'placed', retryAt: FAR }
const NO_GAS: Step = { outcome: 'queued', retryAt: FAR, code: 'relay-quota-exhausted' }

async function setUp(plan: Record<string, Step[]>) {
  const directory = await temporaryDirectory()
  const enclave = await createScriptedEnclave(directory)
  await enclave.plan({ any: [PLACED], ...plan })
  const root = `${directory}/data`
  const started = await startTrigger(chain(), enclave, root)
  /** As another server stores one. */
  async function keep(orderId: Hex) {
    const envelope = await sealOrder(`cancel ${orderId}`)
    const receivedAt = new Date().toISOString()
    const commit = commitOf(envelope)
    await started.records.cancels.keep({ orderId, envelope, commit, receivedAt })
    return commit
  }
  return {
    ...started,
    enclave,
    root,
    keep,
    async cancel(orderId: Hex) {
      started.trigger.onCancelled(orderId, await keep(orderId))
    },
    /** For each run, its order and whether it had the cancel. */
    runs: async () =>
      (await enclave.jobs()).map((job) =>
        job.job === 'order' ? [job.orderId, job.cancel !== undefined] : [],
      ),
    restart: () => startTrigger(chain(), enclave, root),
  }
}

test('a cancel that another server stored is found, and its order runs with it', async () => {
  const { place, until, keep, runs } = await setUp({})
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
  const { store, cancel, until, runs } = await setUp({})
  const envelope = await sealOrder(A)
  await store(A, envelope)
  await cancel(A)
  await openFor(chain(), 'alice', A, envelope)
  await until(A, 'its run', ({ triggers }) => triggers[0]?.outcome === 'placed')
  expect(await runs()).toEqual([[A, true]])
})

test('a cancelled order passes one of its account that waits for gas, and others do not', async () => {
  const { place, until, cancel, runs } = await setUp({ [A]: [NO_GAS] })
  await place('alice', A)
  await until(A, 'its run', ({ triggers }) => triggers[0]?.outcome === 'queued')
  await place('alice', B)
  await cancel(B)
  await until(B, 'its run', ({ triggers }) => triggers[0]?.outcome === 'placed')
  expect(await runs()).toEqual([
    [A, false],
    [B, true],
  ])
})

test('the next start runs nothing of a cancelled order without its cancel', async () => {
  const { place, until, keep, stop, restart, runs } = await setUp({})
  await place('alice', A)
  await until(A, 'its run', ({ triggers }) => triggers[0]?.outcome === 'placed')
  await stop()
  await keep(A)
  await restart()
  expect(await eventually('another run', async () => (await runs())[1])).toEqual([A, true])
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
  const { store, until, keep, records, runs } = await setUp({ [A]: [{ outcome: 'placed' }, PLACED] })
  const envelope = await sealOrder(A)
  await store(A, envelope)
  await keep(A)
  await records.cancels.close(A)
  await openFor(chain(), 'alice', A, envelope)
  await until(A, 'another run', ({ triggers }) => triggers[1]?.outcome === 'placed')
  expect(await runs()).toEqual([
    [A, false],
    [A, true],
  ])
})

test('a cancel is closed with its order', async () => {
  const { place, until, cancel, root } = await setUp({ [A]: [PLACED, { outcome: 'refunded' }] })
  await place('alice', A)
  await until(A, 'its run', ({ triggers }) => triggers[0]?.outcome === 'placed')
  await cancel(A)
  await until(A, 'its end', ({ triggers }) => triggers[1]?.outcome === 'refunded')
  await refundOrder(chain(), A)
  await eventually('the cancel is closed', async () => openIds(root, 'cancels').length === 0)
})
