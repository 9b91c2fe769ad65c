import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { createAtomicFiles } from '../../../src/server/store/atomicFiles.js'
import {
  createOrderRecords,
  emptyOrderRecord,
  type OrderRecord,
  type OrderRecords,
  withDigests,
} from '../../../src/server/store/orderRecords.js'
import { StorageError } from '../../../src/server/store/storageError.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createFaultyFs } from './faultyFs.js'

const orderId: Hex = `0x${'ab'.repeat(32)}`
const other: Hex = `0x${'cd'.repeat(32)}`
const startedAt = '2026-03-02T15:00:00.000Z'

async function setUp() {
  const root = await temporaryDirectory()
  const records = createOrderRecords({
    files: createAtomicFiles({ root }),
    logger: createLogLines().logger,
  })
  return { root, records, path: join(root, `envelopes/open/${orderId}.json`) }
}

/** On a file system whose operation of this index fails. */
function faulty(root: string, failAt: number) {
  const { fs, operations } = createFaultyFs(failAt)
  const files = createAtomicFiles({ root, fs })
  return { records: createOrderRecords({ files, logger: createLogLines().logger }), operations }
}

async function writesAnewOnce(
  records: OrderRecords,
  operations: readonly string[],
  record: OrderRecord,
): Promise<void> {
  expect(operations).not.toContain('rename')
  expect(await records.update(orderId, (current) => current)).toEqual(record)
  expect(operations.slice(-3)).toEqual(['rename', expect.stringContaining('open'), 'sync'])
  const { length } = operations
  await records.update(orderId, (current) => current)
  expect(operations).toHaveLength(length)
}

function withRun(record: OrderRecord): OrderRecord {
  const attempt = record.triggers.length + 1
  const run = { attempt, reason: 'retry', startedAt, finishedAt: null, outcome: null } as const
  return { ...record, triggers: [...record.triggers, run], nextTriggerAt: startedAt }
}

test('a record of before its digests were kept is read with none', async () => {
  const { records, path } = await setUp()
  await records.update(orderId, () => withRun(emptyOrderRecord(orderId)))
  await writeFile(path, (await readFile(path, 'utf8')).replace(',"digests":[]', ''))
  expect(await readFile(path, 'utf8')).not.toContain('digests')
  expect(await records.get(orderId)).toEqual(withRun(emptyOrderRecord(orderId)))
})

describe('digests', () => {
  test('are kept once each, the latest twenty', () => {
    const digests = Array.from({ length: 22 }, (_, index): Hex => `0x${String(index).padStart(64, '0')}`)
    const record = withDigests(withDigests(emptyOrderRecord(orderId), digests.slice(0, 3)), digests.slice(2))
    expect(record.digests).toEqual(digests.slice(2))
  })
})

describe('update', () => {
  test('loses no change when many run at once', async () => {
    const { records } = await setUp()
    const add = () => records.update(orderId, (current) => withRun(current ?? emptyOrderRecord(orderId)))
    await Promise.all(Array.from({ length: 25 }, add))
    const attempts = (await records.get(orderId))?.triggers.map(({ attempt }) => attempt)
    expect(attempts).toEqual(Array.from({ length: 25 }, (_, index) => index + 1))
  })

  test('creates, and writes nothing for the same object or undefined', async () => {
    const { records, path } = await setUp()
    expect(await records.update(orderId, (current) => current)).toBeUndefined()
    expect(await records.openIds()).toEqual([])
    expect(await records.update(orderId, () => emptyOrderRecord(orderId))).toEqual(emptyOrderRecord(orderId))
    await writeFile(path, `${await readFile(path, 'utf8')} `)
    await records.update(orderId, (current) => current)
    await records.update(orderId, () => undefined)
    expect(await readFile(path, 'utf8')).toMatch(/ $/)
  })

  test('writes anew, once, what it could not write before, though it can be read', async () => {
    const { root, records: earlier } = await setUp()
    await earlier.update(orderId, () => emptyOrderRecord(orderId))
    const { records, operations } = faulty(root, 2)
    const changed = withRun(emptyOrderRecord(orderId))
    await expect(records.update(orderId, () => changed)).rejects.toThrow(StorageError)
    expect(operations.slice(1)).toEqual(['write', 'sync'])
    expect(await records.get(orderId)).toEqual(changed)
    await writesAnewOnce(records, operations, changed)
  })

  test('writes anew, once, what an earlier server may not have got to the medium', async () => {
    const { root, records: earlier } = await setUp()
    const record = withRun(emptyOrderRecord(orderId))
    await earlier.update(orderId, () => record)
    const { records, operations } = faulty(root, -1)
    await writesAnewOnce(records, operations, record)
  })

  test('a change that throws holds up none of the later ones', async () => {
    const { records } = await setUp()
    const failing = records.update(orderId, () => Promise.reject(new Error('refused')))
    const next = records.update(orderId, () => emptyOrderRecord(orderId))
    await expect(failing).rejects.toThrow('refused')
    expect(await next).toEqual(emptyOrderRecord(orderId))
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

  test('of an order without a record makes none', async () => {
    const { records } = await setUp()
    await records.finish(orderId)
    expect(await records.get(orderId)).toBeUndefined()
  })
})
