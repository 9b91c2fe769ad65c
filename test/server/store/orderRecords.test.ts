import { describe, expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import {
  createOrderRecords,
  emptyOrderRecord,
  MAX_CANCELS,
  type OrderRecord,
  withDigest,
} from '../../../src/server/store/orderRecords.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const orderId: Hex = `0x${'ab'.repeat(32)}`
const other: Hex = `0x${'cd'.repeat(32)}`
const startedAt = '2026-03-02T15:00:00.000Z'

async function setUp() {
  const { engine } = await openStores(await temporaryDirectory())
  return { engine, records: createOrderRecords({ engine, logger: createLogLines().logger }) }
}

function withRun(record: OrderRecord): OrderRecord {
  const attempt = record.triggers.length + 1
  const run = { attempt, reason: 'retry', startedAt, finishedAt: null, outcome: null } as const
  return { ...record, triggers: [...record.triggers, run], nextTriggerAt: startedAt }
}

describe('digests', () => {
  test('are kept once each, the latest twenty', () => {
    const digests = Array.from({ length: 22 }, (_, index): Hex => `0x${String(index).padStart(64, '0')}`)
    const record = digests.reduce(withDigest, emptyOrderRecord(orderId))
    expect(record.digests).toEqual(digests.slice(2))
    expect(withDigest(record, digests[5] ?? orderId)).toBe(record)
  })
})

describe('update', () => {
  test('creates, and writes nothing for the same object or undefined', async () => {
    const { records, engine } = await setUp()
    expect(await records.update(orderId, (current) => current)).toBeUndefined()
    expect(await records.openIds()).toEqual([])
    expect(await records.update(orderId, () => emptyOrderRecord(orderId))).toEqual(emptyOrderRecord(orderId))
    await records.update(orderId, (current) => current)
    await records.update(orderId, () => undefined)
    expect((await engine.get('orders', orderId))?.version).toBe(1)
  })
})

describe('finish', () => {
  test('takes a record out of the open ones, where it is still found and changed', async () => {
    const { records } = await setUp()
    await records.update(orderId, () => withRun(emptyOrderRecord(orderId)))
    await records.update(other, () => emptyOrderRecord(other))
    await records.finish(orderId)
    await records.finish(orderId)
    expect(await records.openIds()).toEqual([other])
    expect(await records.get(orderId)).toMatchObject({ nextTriggerAt: null, triggers: [{ attempt: 1 }] })
    await records.update(orderId, (current) => current && { ...current, escrowCommit: other })
    expect(await records.openIds()).toEqual([other])
    expect((await records.get(orderId))?.escrowCommit).toBe(other)
  })

  test('finishing an order without a record makes none', async () => {
    const { records } = await setUp()
    await records.finish(orderId)
    expect(await records.get(orderId)).toBeUndefined()
  })
})

test("an account's cancel takes the place of its earlier one, a few times", async () => {
  const { records } = await setUp()
  const { cancels } = records
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

describe('a summary', () => {
  test('is not the one of a record that another server has removed, and stored anew', async () => {
    const { engine, records } = await setUp()
    const other = createOrderRecords({ engine, logger: createLogLines().logger })
    const stored = (nextTriggerAt: string) => ({ ...emptyOrderRecord(orderId), nextTriggerAt })
    await records.update(orderId, () => stored(startedAt))
    expect(await records.summaryOf(orderId)).toMatchObject({ nextTriggerAt: startedAt })
    await other.removeUnrun(orderId)
    await other.update(orderId, () => stored('2031-01-01T00:00:00.000Z'))
    expect(await records.summaryOf(orderId)).toMatchObject({ nextTriggerAt: '2031-01-01T00:00:00.000Z' })
  })

  const setTime = (nextTriggerAt: string) => (current: OrderRecord | undefined) => ({
    ...(current ?? emptyOrderRecord(orderId)),
    nextTriggerAt,
  })

  test('is the very same object until the record changes', async () => {
    const { records } = await setUp()
    expect(await records.summaryOf(orderId)).toBeUndefined()
    await records.update(orderId, setTime(startedAt))
    const summary = await records.summaryOf(orderId)
    expect(summary).toEqual({ candidates: [], triggers: [], nextTriggerAt: startedAt, notice: null })
    expect(await records.summaryOf(orderId)).toBe(summary)
    await records.update(orderId, setTime('2031-01-01T00:00:00.000Z'))
    expect(await records.summaryOf(orderId)).toMatchObject({ nextTriggerAt: '2031-01-01T00:00:00.000Z' })
    await records.finish(orderId)
    expect(await records.summaryOf(orderId)).toMatchObject({ nextTriggerAt: null })
  })

  test('the summary of a removed record is gone, and is that of the next one', async () => {
    const { records } = await setUp()
    await records.update(orderId, setTime(startedAt))
    await records.summaryOf(orderId)
    await records.removeUnrun(orderId)
    expect(await records.summaryOf(orderId)).toBeUndefined()
    await records.update(orderId, setTime('2031-01-01T00:00:00.000Z'))
    await records.summaryOf(orderId)
    await records.expire(orderId, Number.MAX_SAFE_INTEGER)
    await records.update(orderId, setTime('2032-01-01T00:00:00.000Z'))
    expect(await records.summaryOf(orderId)).toMatchObject({ nextTriggerAt: '2032-01-01T00:00:00.000Z' })
  })
})
