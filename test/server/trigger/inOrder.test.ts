// The orders of one account run in their order, whatever becomes of the one before, and none is left waiting.
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { settleOrder } from '../../support/orderEnds.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { openIds } from '../../support/storedRows.js'
import { createRefusingEngine, openStores } from '../../support/stores.js'
import { outcomes, PLACED, TIMES, triggerSetting } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B] = [bytes32('A'), bytes32('B')]

/** On a disk that refuses to keep one order's record open or closed: as often as `failing` says. */
async function setUp(plan: Record<string, Step[]>, changes: Parameters<typeof triggerSetting>[2] = {}) {
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
  const { place, until, trigger, keys } = await setUp({ [A]: [{ outcome: 'failed' }] }, { times })
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
  const { place, until, keys } = await setUp({
    [A]: [{ outcome: 'queued', code: 'paused', retryAt }, PLACED],
  })
  await place('alice', A)
  await until(A, 'its wait', (record) => record.triggers[0]?.waitsFor === 'paused')
  await place('alice', B)
  await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
  expect(await keys()).toEqual([A, A, B])
})

test('an order whose start the disk refuses is not overtaken, and the refusal is logged once', async () => {
  const { store, until, failing, keys, logText } = await setUp({})
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
  const { place, until, trigger, enclave, directory, failing, keys, root, logText } = await setUp({})
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
  await until(B, 'its run', (record) => outcomes(record).length > 0)
  failing.finish = 0
  await eventually('no open record of it', () => !openIds(root, 'orders').includes(A))
  expect(await keys()).toEqual([A, B])
})
