import { expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createOrderRecords, emptyOrderRecord, MAX_CANCELS } from '../../../src/server/store/orderRecords.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const orderId: Hex = `0x${'ab'.repeat(32)}`
const startedAt = '2026-03-02T15:00:00.000Z'

async function setUp() {
  const { engine } = await openStores(await temporaryDirectory())
  const server = () => createOrderRecords({ engine, logger: createLogLines().logger })
  return { records: server(), other: server() }
}

test("an account's cancel takes the place of its earlier one, a few times", async () => {
  const { cancels } = (await setUp()).records
  const cancel = async (content: string, receivedAt: string) => {
    const envelope = await sealOrder(content)
    return { orderId, envelope, commit: commitOf(envelope), receivedAt }
  }
  await cancels.keep(await cancel('first', startedAt))
  const kept: string[] = []
  for (let n = 0; n < MAX_CANCELS + 2; n++)
    kept.push((await cancels.keep(await cancel(`${n}`, '2026-03-02T16:00:00.000Z'))).kept.commit)
  expect(new Set(kept).size).toBe(MAX_CANCELS - 1)
  expect(await cancels.get(orderId)).toMatchObject({ commit: kept.at(-1), receivedAt: startedAt })
})

test('a summary is not the one of a record that this server or another has removed, and stored anew', async () => {
  const { records, other } = await setUp()
  for (const [index, server] of [records, other, records].entries()) {
    const nextTriggerAt = `203${index}-01-01T00:00:00.000Z`
    await server.update(orderId, () => ({ ...emptyOrderRecord(orderId), nextTriggerAt }))
    expect(await records.summaryOf(orderId)).toMatchObject({ nextTriggerAt })
    await server.removeUnrun(orderId)
  }
})
