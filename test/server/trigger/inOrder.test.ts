// The orders of one account run in their order, whatever becomes of the one before, and none is left waiting.
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { waitReasonSchema } from '../../../src/protocol/job.js'
import { StorageError } from '../../../src/server/store/engine.js'
import { createOrderRecords, type OrderRecords } from '../../../src/server/store/orderRecords.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { settleOrder } from '../../support/orderEnds.js'
import { createScriptedEnclave, type Step } from '../../support/scriptedEnclave.js'
import { openIds } from '../../support/storedRows.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { outcomes, startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B] = [bytes32('A'), bytes32('B')]
const PLACED: Step = { outcome: 'placed', retryAt: 4_000_000_000 }

/** On records of which each method may fail: as often as `failing` says, for one order. */
async function setUp(plan: Record<string, Step[]>, changes: Parameters<typeof startTrigger>[3] = {}) {
  const directory = await temporaryDirectory()
  const enclave = await createScriptedEnclave(directory)
  await enclave.plan({ any: [PLACED], ...plan })
  const root = `${directory}/data`
  const records = createOrderRecords({ ...(await openStores(root)), logger: createLogLines().logger })
  const failing = { update: 0, finish: 0 }
  function failOrNot(method: keyof typeof failing, orderId: Hex): void {
    if (orderId !== A || failing[method] === 0) return
    failing[method]--
    throw new StorageError(new Error('injected'))
  }
  const unreliable: OrderRecords = {
    ...records,
    async update(orderId, change) {
      failOrNot('update', orderId)
      return records.update(orderId, change)
    },
    async finish(orderId) {
      failOrNot('finish', orderId)
      return records.finish(orderId)
    },
  }
  const started = await startTrigger(chain(), enclave, root, { ...changes, records: unreliable })
  /** The orders of the runs, in the order in which they started. */
  async function sequence(): Promise<Hex[]> {
    const notes = await enclave.notes()
    return notes.filter(({ event }) => event === 'started').map(({ key }) => (key === A ? A : B))
  }
  const openRecords = async () => openIds(root, 'orders')
  return { ...started, enclave, directory, failing, sequence, openRecords }
}

test('an order that waits for one that failed runs when that one is settled by somebody else', async () => {
  const times = {
    failedMs: 600_000,
    failedMaxMs: 600_000,
    waitingMs: 100,
    leastMs: 20,
    clockIntervalMs: 30_000,
  }
  const { place, until, trigger, sequence } = await setUp({ [A]: [{ outcome: 'failed' }] }, { times })
  await place('alice', A)
  await until(A, 'its failure', (record) => outcomes(record)[0] === 'failed')
  await place('alice', B)
  await eventually('an order that waits', async () => trigger.backlog().orders?.due === 1)
  await settleOrder(chain(), A)
  await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
  expect(await sequence()).toEqual([A, B])
})

// An order with a later nonce that is written ahead first has the earlier one refused.
test.each(waitReasonSchema.exclude(['market-closed']).options)(
  'an order that waits (%s) is not overtaken by one that comes later',
  async (code) => {
    const retryAt = Math.ceil(Date.now() / 1_000) + 2
    const { place, until, sequence } = await setUp({ [A]: [{ outcome: 'queued', code, retryAt }, PLACED] })
    await place('alice', A)
    await until(A, 'its wait', (record) => record.triggers[0]?.waitsFor === code)
    await place('alice', B)
    await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
    expect(await sequence()).toEqual([A, A, B])
  },
)

test('an order whose start the disk refuses is not overtaken, and the refusal is logged once', async () => {
  const { store, until, failing, sequence, logText } = await setUp({})
  const envelopes = [await sealOrder('A'), await sealOrder('B')] as const
  await store(A, envelopes[0])
  await store(B, envelopes[1])
  failing.update = 2
  await openFor(chain(), 'bob', A, envelopes[0])
  await openFor(chain(), 'bob', B, envelopes[1])
  await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
  expect(await sequence()).toEqual([A, B])
  expect(logText().match(/run not started/g)).toHaveLength(1)
  expect(logText()).toContain('run started')
})

test('an order that was settled during its run is put away, also when the disk refuses that at first', async () => {
  const { place, trigger, enclave, directory, failing, sequence, openRecords, logText } = await setUp({})
  const untilFile = `${directory}/go`
  await enclave.plan({ any: [{ outcome: 'settled', untilFile }] })
  await place('carol', A)
  await eventually('its run', async () => (await sequence()).length === 1)
  await settleOrder(chain(), A)
  await eventually('its end on the chain', async () => trigger.knownEscrow(A)?.state === 'SETTLED')
  failing.finish = 1
  await writeFile(untilFile, '')
  await eventually('no open record', async () => (await openRecords()).length === 0)
  expect(logText()).toContain('order deferred: its record fails')
  expect(await sequence()).toEqual([A])
})
