import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bytes32Schema, type Hex } from '../../../src/protocol/hex.js'
import { uint256Schema } from '../../../src/protocol/units.js'
import { createAtomicFiles } from '../../../src/server/store/atomicFiles.js'
import { createFileRecordStore } from '../../../src/server/store/recordStore.js'
import { StorageError } from '../../../src/server/store/storageError.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createFaultyFs } from './faultyFs.js'

const schema = z.strictObject({ commit: bytes32Schema, amount: uint256Schema })
const id: Hex = `0x${'ab'.repeat(32)}`
const other: Hex = `0x${'cd'.repeat(32)}`
const record = { commit: other, amount: 10n ** 30n }

async function setUp() {
  const root = await temporaryDirectory()
  const log = createLogLines()
  const files = createAtomicFiles({ root })
  const shared = { files, schema, logger: log.logger }
  const open = createFileRecordStore({ ...shared, directory: 'envelopes/open', sharded: false })
  const done = createFileRecordStore({ ...shared, directory: 'envelopes/done', sharded: true })
  return { root, log, files, open, done }
}

describe('createFileRecordStore', () => {
  test('gives back what was put, through the codecs of the schema', async () => {
    const { root, open } = await setUp()
    expect(await open.get(id)).toBeUndefined()
    await open.put(id, record)
    expect(await open.get(id)).toEqual(record)
    const text = await readFile(join(root, `envelopes/open/${id}.json`), 'utf8')
    expect(JSON.parse(text)).toEqual({ commit: other, amount: '1000000000000000000000000000000' })
  })

  test('spreads a sharded store over two-digit directories', async () => {
    const { root, done } = await setUp()
    await done.put(id, record)
    await done.put(other, record)
    expect((await readdir(join(root, 'envelopes/done'))).sort()).toEqual(['ab', 'cd'])
    expect((await done.ids()).sort()).toEqual([id, other])
    expect(await done.get(id)).toEqual(record)
  })

  test('knows only its records by id', async () => {
    const { root, open } = await setUp()
    await open.put(id, record)
    await writeFile(join(root, 'envelopes/open/notes.txt'), '')
    await writeFile(join(root, 'envelopes/open/notes.json'), '{}')
    await writeFile(join(root, `envelopes/open/${other}.json.corrupt`), '')
    expect(await open.ids()).toEqual([id])
    expect(await open.delete(id)).toBe(true)
    expect(await open.delete(id)).toBe(false)
    expect(await open.ids()).toEqual([])
  })

  test.each(['../secrets', '0xAB', '0x', 'ab', `${id}/..`, `0x${'a'.repeat(300)}`, ''])(
    'refuses the id "%s"',
    async (bad) => {
      const { open } = await setUp()
      await expect(async () => open.get(bad)).rejects.toThrow(TypeError)
      await expect(async () => open.put(bad, record)).rejects.toThrow(TypeError)
    },
  )

  test('gives back the last version that was appended, and keeps the earlier ones', async () => {
    const { root, open } = await setUp()
    await open.put(id, record)
    await open.append(id, { ...record, amount: 2n })
    await open.append(id, { ...record, amount: 3n })
    expect(await open.get(id)).toEqual({ ...record, amount: 3n })
    const text = await readFile(join(root, `envelopes/open/${id}.json`), 'utf8')
    expect(text.split('\n').filter((line) => line !== '')).toHaveLength(3)
    await open.put(id, { ...record, amount: 4n })
    expect(await open.get(id)).toEqual({ ...record, amount: 4n })
  })

  test('makes the file anew after many versions, so that it never grows beyond them', async () => {
    const { root, open } = await setUp()
    await open.put(id, record)
    let longest = 0
    for (let version = 1; version <= 200; version++) {
      await open.append(id, { ...record, amount: BigInt(version) })
      const text = await readFile(join(root, `envelopes/open/${id}.json`), 'utf8')
      longest = Math.max(longest, text.split('\n').filter((line) => line !== '').length)
    }
    expect(await open.get(id)).toEqual({ ...record, amount: 200n })
    expect(longest).toBe(65)
  })

  test('a version that was cut off by a crash does not count, whatever comes behind it', async () => {
    const { root, open } = await setUp()
    const file = join(root, `envelopes/open/${id}.json`)
    await open.put(id, record)
    const line = JSON.stringify({ commit: other, amount: '2' })
    for (let cut = 0; cut < line.length; cut++) {
      await appendFile(file, `\n${line.slice(0, cut)}`)
      expect(await open.get(id)).toEqual(record)
    }
    await open.append(id, { ...record, amount: 3n })
    expect(await open.get(id)).toEqual({ ...record, amount: 3n })
  })

  test.each(['write', 'sync'])('a version whose %s fails is followed by a new file', async (step) => {
    const { root, open, log } = await setUp()
    await open.put(id, record)
    const { fs, operations } = createFaultyFs(step === 'write' ? 1 : 2)
    const files = createAtomicFiles({ root, fs })
    const failing = createFileRecordStore({
      files,
      schema,
      logger: log.logger,
      directory: 'envelopes/open',
      sharded: false,
    })
    await expect(failing.append(id, { ...record, amount: 2n })).rejects.toThrow(StorageError)
    await failing.append(id, { ...record, amount: 3n })
    expect(operations).toContain('rename')
    expect(await readFile(join(root, `envelopes/open/${id}.json`), 'utf8')).toBe(
      `${JSON.stringify({ commit: other, amount: '3' })}\n`,
    )
  })

  test('moves a record to another store', async () => {
    const { open, done } = await setUp()
    await open.put(id, record)
    expect(await open.move(id, done)).toBe(true)
    expect(await open.move(id, done)).toBe(false)
    expect(await open.get(id)).toBeUndefined()
    expect(await done.get(id)).toEqual(record)
  })

  test.each([
    ['cut off', '{"commit":'],
    ['empty', ''],
    ['of another shape', '{"commit":"0x12","amount":"1"}'],
    ['with an unknown member', JSON.stringify({ commit: other, amount: '1', extra: 'canary' })],
    ['binary', '\u0000\u0001'],
  ])('sets a file %s aside with a warning', async (_what, text) => {
    const { root, log, open } = await setUp()
    await mkdir(join(root, 'envelopes/open'), { recursive: true })
    await writeFile(join(root, `envelopes/open/${id}.json`), text)
    expect(await open.get(id)).toBeUndefined()
    expect(await readdir(join(root, 'envelopes/open'))).toEqual([`${id}.json.corrupt`])
    expect(log.lines()).toMatchObject([{ level: 40, store: 'envelopes/open', recordId: id }])
    expect(log.text()).not.toContain('canary')
    await open.put(id, record)
    expect(await open.get(id)).toEqual(record)
  })

  test('a medium that fails is a StorageError, and no record is taken for corrupt', async () => {
    const { root, open, log } = await setUp()
    await open.put(id, record)
    const failing = createFileRecordStore({
      files: createAtomicFiles({
        root,
        fs: { ...createFaultyFs(0).fs, readFile: () => Promise.reject<never>(new Error('EIO')) },
      }),
      schema,
      logger: log.logger,
      directory: 'envelopes/open',
      sharded: false,
    })
    await expect(failing.get(id)).rejects.toThrow(StorageError)
    await expect(failing.put(id, record)).rejects.toThrow(StorageError)
    expect(await open.get(id)).toEqual(record)
  })
})
