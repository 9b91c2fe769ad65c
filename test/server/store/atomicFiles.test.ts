import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createAtomicFiles } from '../../../src/server/store/atomicFiles.js'
import type { nodeFileSystem } from '../../../src/server/store/fileSystem.js'
import { StorageError } from '../../../src/server/store/storageError.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createFaultyFs } from './faultyFs.js'

/** Steps of a write into a directory that was used before: open, write, sync, rename, open the directory, sync it. */
const WRITE_STEPS = ['open', 'write', 'sync', 'rename', 'open', 'sync']

async function setUp() {
  const root = await temporaryDirectory()
  return { root, files: createAtomicFiles({ root }) }
}

/** Files of a process that has written `old` before; of what it does from then on, the operation of this index fails. */
async function setUpUsed(failAt: number, crash = false) {
  const { root, files } = await setUp()
  await files.write('a/one.json', '')
  const dry = createFaultyFs(-1)
  await createAtomicFiles({ root, fs: dry.fs }).write('a/one.json', '')
  const before = dry.operations.length
  const { fs, operations } = createFaultyFs(before + failAt, crash)
  const used = createAtomicFiles({ root, fs })
  await used.write('a/one.json', 'old')
  return { root, files, used, operations: () => operations.slice(before) }
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
    const { used, operations } = await setUpUsed(Number.POSITIVE_INFINITY)
    await used.write('a/one.json', 'new')
    expect(operations()).toEqual(WRITE_STEPS)
  })

  test.each([...WRITE_STEPS.entries()])(
    'a write that fails at step %i (%s) leaves a whole file, no leftover',
    async (step) => {
      const { root, files, used } = await setUpUsed(step)
      await expect(used.write('a/one.json', 'new')).rejects.toThrow(StorageError)
      expect(await files.read('a/one.json')).toBe(step <= 3 ? 'old' : 'new')
      expect(await readdir(join(root, 'tmp'))).toEqual([])
      await files.write('a/one.json', 'next')
      expect(await files.read('a/one.json')).toBe('next')
    },
  )

  test.each([...WRITE_STEPS.entries()])(
    'a process killed at step %i (%s) leaves a whole file; the next start cleans up',
    async (step) => {
      const { root, files, used } = await setUpUsed(step, true)
      await expect(used.write('a/one.json', 'new')).rejects.toThrow(StorageError)
      expect(await files.read('a/one.json')).toBe(step <= 3 ? 'old' : 'new')
      await files.clean()
      expect(await readdir(join(root, 'tmp'))).toEqual([])
      expect(await readdir(join(root, 'a'))).toEqual(['one.json'])
    },
  )

  test('adds to a file that is there, and makes none', async () => {
    const { root, files, used, operations } = await setUpUsed(Number.POSITIVE_INFINITY)
    await expect(used.append('a/two.json', 'x')).rejects.toThrow(StorageError)
    await used.append('a/one.json', ', second')
    expect(operations().slice(1)).toEqual(['open', 'write', 'sync'])
    expect(await files.read('a/one.json')).toBe('old, second')
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
    for (const step of [0, 1, 2, 3]) {
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

describe('a directory that is used for the first time', () => {
  const PATH = 'a/b/one.json'

  async function setUpEmpty() {
    const there = await temporaryDirectory()
    const root = join(there, 'trading', 'data')
    /** Where the entries stand that lead to the file, from the file system's root down. */
    const chain = [...above(there), there, dirname(root), root, join(root, 'a'), join(root, 'a/b')]
    return { root, chain }
  }

  test.each(['failed', 'was killed'])(
    'is durable with the ones above it, wherever the write before %s',
    async (what) => {
      const failed: string[] = []
      for (let failAt = 0; ; failAt++) {
        const { root, chain } = await setUpEmpty()
        const first = createFaultyFs(failAt, what === 'was killed')
        const files = createAtomicFiles({ root, fs: first.fs })
        const isWritten = await files.write(PATH, 'first').then(
          () => true,
          () => false,
        )
        if (isWritten) {
          expect(first.synced).toEqual(expect.arrayContaining(chain))
          break
        }
        failed.push(first.operations[failAt] ?? '')
        const { fs, synced } = what === 'failed' ? first : createFaultyFs(-1)
        const next = what === 'failed' ? files : createAtomicFiles({ root, fs })
        await next.write(PATH, 'next')
        expect(synced, `step ${failAt}`).toEqual(expect.arrayContaining(chain))
      }
      expect(failed.filter((name) => name === 'mkdir')).toHaveLength(['.', 'tmp', 'a', 'a/b'].length)
    },
  )

  test('is waited for by all who write into it', async () => {
    const { root, chain } = await setUpEmpty()
    const { fs, synced } = createFaultyFs(-1)
    const slow: typeof fs = {
      ...fs,
      async open(path, flags, mode) {
        const file = await fs.open(path, flags, mode)
        return { ...file, sync: () => (path === root ? sleep(100) : sleep(0)).then(() => file.sync()) }
      },
    }
    const files = createAtomicFiles({ root, fs: slow })
    const seen = await Promise.all(
      ['one', 'two', 'three'].map(async (name) => {
        await files.write(`a/b/${name}.json`, name)
        return [...synced]
      }),
    )
    for (const before of seen) expect(before).toEqual(expect.arrayContaining(chain))
  })

  test('is durable before an addition to a file in it counts', async () => {
    const { root, chain } = await setUpEmpty()
    await createAtomicFiles({ root }).write(PATH, 'first')
    const { fs, synced } = createFaultyFs(-1)
    await createAtomicFiles({ root, fs }).append(PATH, ', second')
    expect(synced).toEqual(expect.arrayContaining(chain.slice(0, -1)))
  })

  test('is made and synced again after somebody has removed it', async () => {
    const { root, chain } = await setUpEmpty()
    const { fs, synced } = createFaultyFs(-1)
    const files = createAtomicFiles({ root, fs })
    await files.write(PATH, 'first')
    await rm(root, { recursive: true })
    synced.length = 0
    await files.write(PATH, 'next')
    expect(synced).toEqual(expect.arrayContaining(chain))
  })

  test.each([
    ['cannot be read', 'EACCES'],
    ['is of a file system that syncs no directories', 'EINVAL'],
  ])('may lie where a directory above the root %s, and the others are synced', async (_, code) => {
    const { root, chain } = await setUpEmpty()
    const { fs: seen, synced } = createFaultyFs(-1)
    const closed = dirname(dirname(root))
    const fs: typeof nodeFileSystem = {
      ...seen,
      async open(path, flags, mode) {
        if (path === closed) throw Object.assign(new Error('injected'), { code })
        return seen.open(path, flags, mode)
      },
    }
    const files = createAtomicFiles({ root, fs })
    await files.write(PATH, 'first')
    expect(await files.read(PATH)).toBe('first')
    expect(synced).toEqual(expect.arrayContaining(chain.filter((path) => path !== closed)))
  })
})

function above(path: string): string[] {
  return path === '/' ? [] : [...above(dirname(path)), dirname(path)]
}
