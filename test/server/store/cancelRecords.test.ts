import { expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createOrderRecords, emptyOrderRecord, MAX_CANCELS } from '../../../src/server/store/orderRecords.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const orderId: Hex = `0x${'ab'.repeat(32)}`
const FIRST = '2026-03-02T15:00:00.000Z'

async function setUp() {
  const { engine } = await openStores(await temporaryDirectory())
  return createOrderRecords({ engine, logger: createLogLines().logger })
}

async function cancel(content: string, receivedAt = '2026-03-02T16:00:00.000Z') {
  const envelope = await sealOrder(content)
  return { orderId, envelope, commit: commitOf(envelope), receivedAt }
}

test('a cancel is kept once, and open until its order has ended', async () => {
  const { cancels } = await setUp()
  const first = await cancel('one', FIRST)
  expect(await cancels.keep(first)).toEqual({ kept: first, isNews: true })
  expect(await cancels.keep({ ...first, receivedAt: '2026-03-02T17:00:00.000Z' })).toEqual({
    kept: first,
    isNews: false,
  })
  expect(await cancels.openIds()).toEqual([orderId])
  await cancels.close(orderId)
  await cancels.close(orderId)
  expect([await cancels.openIds(), await cancels.get(orderId)]).toEqual([[], first])
})

test('another one of the same account takes its place, a few times', async () => {
  const { cancels } = await setUp()
  await cancels.keep(await cancel('first', FIRST))
  const kept: string[] = []
  for (let n = 0; n < MAX_CANCELS + 2; n++) kept.push((await cancels.keep(await cancel(`${n}`))).kept.commit)
  expect(new Set(kept).size).toBe(MAX_CANCELS - 1)
  expect(await cancels.get(orderId)).toMatchObject({ commit: kept.at(-1), receivedAt: FIRST })
})

test('of two at once, both are answered with one that was kept', async () => {
  const { cancels } = await setUp()
  const both = await Promise.all([await cancel('a'), await cancel('b')].map((one) => cancels.keep(one)))
  expect(both.map(({ isNews }) => isNews)).toEqual([true, true])
  expect((await cancels.get(orderId))?.commit).toBe(both[1]?.kept.commit)
})

test('shows in the summary of its order', async () => {
  const records = await setUp()
  await records.update(orderId, () => emptyOrderRecord(orderId))
  expect((await records.summaryOf(orderId))?.cancelReceivedAt).toBeUndefined()
  await records.cancels.keep(await cancel('one', FIRST))
  expect((await records.summaryOf(orderId))?.cancelReceivedAt).toBe(FIRST)
})
