import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createAtomicFiles } from '../../../src/server/store/atomicFiles.js'
import { StorageError } from '../../../src/server/store/storageError.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createFaultyFs } from './faultyFs.js'

/** Steps of a write into a directory that exists: open, write, sync, rename, open the directory, sync it. */
const WRITE_STEPS = ['open', 'write', 'sync', 'rename', 'open', 'sync']

async function setUp() {
  const root = await temporaryDirectory()
  return { root, files: createAtomicFiles({ root }) }
}

describe('createAtomicFiles', () => {
  test('writes, reads, replaces, lists, moves and removes', async () => {
    const { files } = await setUp()
    expect(await files.read('a/b/one.json')).toBeUndefined()
    await files.write('a/b/one.json', 'old')
    await files.write('a/b/one.json', 'new')
    expect(await files.read('a/b/one.json')).toBe('new')
    expect(await files.list('a/b')).toEqual(['one.json'])
    expect(await files.list('nowhere')).toEqual([])
    expect(await files.move('a/b/one.json', 'c/d/two.json')).toBe(true)
    expect(await files.move('a/b/one.json', 'c/d/two.json')).toBe(false)
    expect(await files.read('c/d/two.json')).toBe('new')
    expect(await files.remove('c/d/two.json')).toBe(true)
    expect(await files.remove('c/d/two.json')).toBe(false)
  })

  test('keeps files and directories from other users', async () => {
    const { root, files } = await setUp()
    await files.write('a/one.json', 'x')
    expect((await stat(join(root, 'a/one.json'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(root, 'a'))).mode & 0o777).toBe(0o700)
  })

  test('a write is: temporary file, sync, rename, sync of the directory', async () => {
    const { root, files } = await setUp()
    await files.write('a/one.json', 'old')
    const { fs, operations } = createFaultyFs(-1)
    await createAtomicFiles({ root, fs }).write('a/one.json', 'new')
    expect(operations).toEqual(WRITE_STEPS)
  })

  test('new directories are synced into the ones above them', async () => {
    const { root } = await setUp()
    const { fs, operations } = createFaultyFs(-1)
    await createAtomicFiles({ root, fs }).write('a/b/one.json', 'new')
    // tmp, then a and a/b, then the directory of the file.
    expect(operations.filter((name) => name === 'sync')).toHaveLength(1 + 1 + 2 + 1)
  })

  test.each([...WRITE_STEPS.entries()])(
    'a write that fails at step %i (%s) leaves a whole file, no leftover',
    async (step) => {
      const { root, files } = await setUp()
      await files.write('a/one.json', 'old')
      const failing = createAtomicFiles({ root, fs: createFaultyFs(step).fs })
      await expect(failing.write('a/one.json', 'new')).rejects.toThrow(StorageError)
      expect(await files.read('a/one.json')).toBe(step <= 3 ? 'old' : 'new')
      expect(await readdir(join(root, 'tmp'))).toEqual([])
      await files.write('a/one.json', 'next')
      expect(await files.read('a/one.json')).toBe('next')
    },
  )

  test.each([...WRITE_STEPS.entries()])(
    'a process killed at step %i (%s) leaves a whole file; the next start cleans up',
    async (step) => {
      const { root, files } = await setUp()
      await files.write('a/one.json', 'old')
      const killed = createAtomicFiles({ root, fs: createFaultyFs(step, true).fs })
      await expect(killed.write('a/one.json', 'new')).rejects.toThrow(StorageError)
      expect(await files.read('a/one.json')).toBe(step <= 3 ? 'old' : 'new')
      await files.clean()
      expect(await readdir(join(root, 'tmp'))).toEqual([])
      expect(await readdir(join(root, 'a'))).toEqual(['one.json'])
    },
  )

  test('adds to a file that is there, and makes none', async () => {
    const { root, files } = await setUp()
    await expect(files.append('a/one.json', 'x')).rejects.toThrow(StorageError)
    await files.write('a/one.json', 'first')
    const { fs, operations } = createFaultyFs(-1)
    await createAtomicFiles({ root, fs }).append('a/one.json', ', second')
    expect(operations).toEqual(['open', 'write', 'sync'])
    expect(await files.read('a/one.json')).toBe('first, second')
    expect((await stat(join(root, 'a/one.json'))).mode & 0o777).toBe(0o600)
  })

  test.each([0, 1, 2])('an addition that fails at step %i says so', async (step) => {
    const { root, files } = await setUp()
    await files.write('a/one.json', 'first')
    const failing = createAtomicFiles({ root, fs: createFaultyFs(step).fs })
    await expect(failing.append('a/one.json', ', second')).rejects.toThrow(StorageError)
    expect(await files.read('a/one.json')).toMatch(/^first/)
  })

  test('a failing move or remove is a StorageError too', async () => {
    const { root, files } = await setUp()
    await files.write('a.json', 'x')
    const failing = (step: number) => createAtomicFiles({ root, fs: createFaultyFs(step).fs })
    for (const step of [0, 1]) {
      await expect(failing(step).move('a.json', 'b.json')).rejects.toThrow(StorageError)
    }
    await expect(failing(0).remove('a.json')).rejects.toThrow(StorageError)
    expect(await files.read('a.json')).toBe('x')
  })

  test('many writers of one file leave one of their texts, whole', async () => {
    const { root, files } = await setUp()
    const texts = Array.from({ length: 40 }, (_, i) => `${i}:`.repeat(2_000))
    await Promise.all(texts.map((text) => files.write('shared/one.json', text)))
    expect(texts).toContain(await files.read('shared/one.json'))
    expect(await readdir(join(root, 'tmp'))).toEqual([])
  })
})
