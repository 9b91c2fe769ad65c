import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { uint256Schema } from '../../../src/protocol/units.js'
import { createDocuments } from '../../../src/server/store/documents.js'
import { fencedEngine } from '../../../src/server/store/leaseHolder.js'
import { createLogLines } from '../../support/logLines.js'
import { setStoredText } from '../../support/storedRows.js'
import { createFailingEngine, openStores, takeOver } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const schema = z.strictObject({ amount: uint256Schema })

async function setUp() {
  const root = await temporaryDirectory()
  const { engine } = await openStores(root)
  const failing = createFailingEngine(engine)
  const fence = await takeOver(engine, 'relayer')
  let isOver = false
  const end = () => {
    isOver = true
  }
  const { logger, lines } = createLogLines()
  const fenced = fencedEngine(failing.engine, { fence, end })
  const options = { engine: fenced, table: 'orders', schema, logger } as const
  const documents = createDocuments(options)
  const add = (id: string) =>
    documents.change(id, (current) => ({
      value: { amount: (current?.value.amount ?? 0n) + 1n },
      isOpen: true,
    }))
  return { root, engine, fence, isOver: () => isOver, left: failing.left, options, documents, lines, add }
}

describe('a change', () => {
  test('loses no other, of this process or of another', async () => {
    const { documents, options, add } = await setUp()
    const other = createDocuments(options)
    const addThere = () =>
      other.change('a', (current) => ({
        value: { amount: (current?.value.amount ?? 0n) + 1n },
        isOpen: true,
      }))
    await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 ? add('a') : addThere())))
    expect(await documents.get('a')).toEqual({ amount: 40n })
  })

  test('a refused change alters nothing, and holds up no later one', async () => {
    const { documents, left, add } = await setUp()
    await add('a')
    left.writes = 1
    await expect(add('a')).rejects.toMatchObject({ name: 'StorageError', code: 'SQLITE_FULL' })
    await expect(documents.change('a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    expect(await documents.get('a')).toEqual({ amount: 1n })
    await add('a')
    expect(await documents.get('a')).toEqual({ amount: 2n })
  })

  test('under a lost term is refused, and ends the term', async () => {
    const { documents, engine, fence, add, isOver } = await setUp()
    await add('a')
    expect(isOver()).toBe(false)
    await takeOver(engine, fence.lease)
    const lost = { name: 'StorageError', code: 'LEASE_LOST' }
    await expect(add('a')).rejects.toMatchObject(lost)
    await expect(documents.put('a', { value: { amount: 9n }, isOpen: true })).rejects.toMatchObject(lost)
    await expect(documents.remove('a')).rejects.toMatchObject(lost)
    expect(isOver()).toBe(true)
    expect(await documents.get('a')).toEqual({ amount: 1n })
  })
})

describe('a document that is put', () => {
  test('takes the place of whatever is there, also after a lost answer or another process', async () => {
    const { documents, options, left } = await setUp()
    const put = (amount: bigint, there = documents) => there.put('a', { value: { amount }, isOpen: true })
    await put(1n)
    left.answers = 1
    await expect(put(2n)).rejects.toMatchObject({ name: 'StorageError' })
    expect(await documents.get('a')).toEqual({ amount: 2n })
    await put(3n)
    await put(4n, createDocuments(options))
    await put(5n)
    expect(await documents.get('a')).toEqual({ amount: 5n })
  })
})

test('one that cannot be parsed fails alone, and the log names it', async () => {
  const { root, documents, lines, add } = await setUp()
  await Promise.all(['a', 'b', 'c'].map(add))
  setStoredText(root, 'orders', 'b', '{"amount":"1","more":1}')
  const unreadable = { name: 'StorageError', code: 'UNREADABLE_RECORD' }
  await expect(documents.get('b')).rejects.toMatchObject(unreadable)
  await expect(add('b')).rejects.toMatchObject(unreadable)
  const readable = await documents.openEntries()
  expect(readable.map(({ value }) => value)).toEqual([{ amount: 1n }, { amount: 1n }])
  expect(await documents.openIds()).toEqual(['a', 'b', 'c'])
  expect(lines()).toContainEqual(
    expect.objectContaining({ msg: 'stored record not readable', store: 'orders', recordId: 'b' }),
  )
})
