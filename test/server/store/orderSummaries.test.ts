import { expect, test } from 'vitest'
import { type AtomicFiles, createAtomicFiles } from '../../../src/server/store/atomicFiles.js'
import { createOrderRecords, emptyOrderRecord } from '../../../src/server/store/orderRecords.js'
import { withSummaries } from '../../../src/server/store/orderSummaries.js'
import { bytes32 } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const ORDER = bytes32('an order')

/** Real records, of whose files the reads are counted and can be held or made to fail. */
async function setUp() {
  const files = createAtomicFiles({ root: await temporaryDirectory() })
  const control = { reads: 0, hold: Promise.resolve(), fails: false }
  const counted: AtomicFiles = {
    ...files,
    async read(path) {
      control.reads++
      if (control.fails) throw new Error('no disk')
      const text = await files.read(path)
      await control.hold
      return text
    },
  }
  const { records, summaryOf } = withSummaries(
    createOrderRecords({ files: counted, logger: createLogLines().logger }),
  )
  const setTime = (nextTriggerAt: string) =>
    records.update(ORDER, (current) => ({ ...(current ?? emptyOrderRecord(ORDER)), nextTriggerAt }))
  return { control, records, summaryOf, setTime }
}

test('a record is read once, and again when it was written', async () => {
  const { control, records, summaryOf, setTime } = await setUp()
  expect(await summaryOf(ORDER)).toBeUndefined()
  await setTime('2030-01-01T00:00:00.000Z')
  const summary = await summaryOf(ORDER)
  expect(summary).toEqual({
    candidates: [],
    triggers: [],
    nextTriggerAt: '2030-01-01T00:00:00.000Z',
    notice: null,
  })
  const { reads } = control
  expect(await summaryOf(ORDER)).toBe(summary)
  expect(control.reads).toBe(reads)
  await records.updateOpen(ORDER, (current) => ({
    ...(current ?? emptyOrderRecord(ORDER)),
    nextTriggerAt: '2031-01-01T00:00:00.000Z',
  }))
  expect(await summaryOf(ORDER)).toMatchObject({ nextTriggerAt: '2031-01-01T00:00:00.000Z' })
  await records.finish(ORDER)
  expect(await summaryOf(ORDER)).toMatchObject({ nextTriggerAt: null })
})

test('a record that is removed is no longer told of', async () => {
  const { records, summaryOf, setTime } = await setUp()
  await setTime('2030-01-01T00:00:00.000Z')
  expect(await summaryOf(ORDER)).toBeDefined()
  await records.removeUnrun(ORDER)
  expect(await summaryOf(ORDER)).toBeUndefined()
  await setTime('2030-01-01T00:00:00.000Z')
  expect(await summaryOf(ORDER)).toBeDefined()
  await records.expire(ORDER, Number.MAX_SAFE_INTEGER)
  expect(await summaryOf(ORDER)).toBeUndefined()
})

test('what is read while the record is written is not remembered', async () => {
  const { summaryOf, setTime } = await setUp()
  await setTime('2030-01-01T00:00:00.000Z')
  const writing = setTime('2031-01-01T00:00:00.000Z')
  const early = summaryOf(ORDER)
  await writing
  expect((await early)?.nextTriggerAt).toMatch(/^203[01]/)
  expect(await summaryOf(ORDER)).toMatchObject({ nextTriggerAt: '2031-01-01T00:00:00.000Z' })
})

test('a failure is not remembered', async () => {
  const { control, summaryOf, setTime } = await setUp()
  await setTime('2030-01-01T00:00:00.000Z')
  control.fails = true
  await expect(summaryOf(ORDER)).rejects.toThrow()
  control.fails = false
  expect(await summaryOf(ORDER)).toMatchObject({ nextTriggerAt: '2030-01-01T00:00:00.000Z' })
})
