import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { createAtomicFiles } from '../../../src/server/store/atomicFiles.js'
import type { FileSystem } from '../../../src/server/store/fileSystem.js'
import { createReceiptStore, type RelayRecord } from '../../../src/server/store/receipts.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createFaultyFs } from './faultyFs.js'

const openStore = (root: string, fileSystem: FileSystem = fs) =>
  createReceiptStore({ files: createAtomicFiles({ root, fs: fileSystem }), logger: createLogLines().logger })

const digestOf = (index: number): Hex => bytesToHex(Uint8Array.from({ length: 32 }, (_, at) => at ^ index))
const DIGEST = digestOf(0xab)
const OPEN = `open/${DIGEST}.json`
const DONE = `ab/${DIGEST}.json`

function record(status: RelayRecord['receipt']['status'], digest = DIGEST): RelayRecord {
  const at = '2030-01-02T14:30:00.000Z'
  const mined = { txHash: null, blockNumber: null, gasUsed: null, error: null }
  const target: Hex = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  return {
    receipt: { digest, primaryType: 'BatchMint', target, status, ...mined, createdAt: at, updatedAt: at },
    data: '0x01020304',
    purpose: { kind: 'platform' },
    transactions: [],
  }
}

async function filesIn(root: string): Promise<string[]> {
  const names = await fs.readdir(join(root, 'receipts'), { recursive: true })
  return names.filter((name) => name.endsWith('.json')).sort()
}

describe('a receipt', () => {
  test('lies among the open ones until it is final', async () => {
    const root = await temporaryDirectory()
    const store = openStore(root)
    for (const status of ['pending', 'submitted'] as const) {
      await store.put(DIGEST, record(status))
      expect(await filesIn(root)).toEqual([OPEN])
      expect(await store.get(DIGEST)).toEqual(record(status))
    }
    await store.put(DIGEST, record('confirmed'))
    expect(await filesIn(root)).toEqual([DONE])
    expect(await store.get(DIGEST)).toEqual(record('confirmed'))
  })

  test('that is open and final counts as open: it was taken up again', async () => {
    const root = await temporaryDirectory()
    await openStore(root).put(DIGEST, record('failed'))
    await openStore(root).put(DIGEST, record('pending'))
    expect(await filesIn(root)).toEqual([DONE, OPEN])
    const store = openStore(root)
    expect(await store.unfinished()).toEqual([record('pending')])
    expect(await store.get(DIGEST)).toEqual(record('pending'))
    await store.put(DIGEST, record('confirmed'))
    expect(await filesIn(root)).toEqual([DONE])
    expect(await store.get(DIGEST)).toEqual(record('confirmed'))
  })

  test('is there, as it was or final, wherever the process is killed while it becomes final', async () => {
    const seen = new Set<string>()
    for (let failAt = 0; ; failAt++) {
      const root = await temporaryDirectory()
      await openStore(root).put(DIGEST, record('submitted'))
      const faulty = createFaultyFs(failAt, true)
      const put = openStore(root, faulty.fs).put(DIGEST, record('confirmed'))
      const killed = await put.then(
        () => false,
        () => true,
      )
      const before = await filesIn(root)
      const store = openStore(root)
      const status = (await store.get(DIGEST))?.receipt.status
      seen.add(`${status} at ${before}`)
      expect(await store.unfinished()).toEqual(status === 'submitted' ? [record('submitted')] : [])
      expect(await filesIn(root)).toEqual([status === 'submitted' ? OPEN : DONE])
      expect(await store.get(DIGEST)).toEqual(record(status === 'submitted' ? 'submitted' : 'confirmed'))
      if (!killed) break
    }
    expect([...seen]).toEqual([`submitted at ${OPEN}`, `confirmed at ${OPEN}`, `confirmed at ${DONE}`])
  })
})

test('a receipt that was not accepted is not found by the next start, whichever step has failed', async () => {
  const failed: string[] = []
  for (let failAt = 0; ; failAt++) {
    const root = await temporaryDirectory()
    await openStore(root).put(DIGEST, record('failed'))
    const { operations, fs: faulty } = createFaultyFs(failAt)
    const isAccepted = await openStore(root, faulty)
      .put(DIGEST, record('submitted'))
      .then(
        () => true,
        () => false,
      )
    const store = openStore(root)
    expect(await store.unfinished()).toEqual(isAccepted ? [record('submitted')] : [])
    expect(await store.get(DIGEST)).toEqual(record(isAccepted ? 'submitted' : 'failed'))
    if (isAccepted) break
    failed.push(operations[failAt] ?? '')
  }
  expect(failed.slice(-3)).toEqual(['rename', 'open', 'sync'])
})

test('a receipt whose file is unreadable is written anew', async () => {
  const root = await temporaryDirectory()
  await openStore(root).put(DIGEST, record('submitted'))
  await fs.writeFile(join(root, 'receipts', OPEN), '{"receipt":')
  const store = openStore(root)
  expect(await store.unfinished()).toEqual([])
  await store.put(DIGEST, record('pending'))
  expect(await store.get(DIGEST)).toEqual(record('pending'))
})

test('a receipt that changes has one file all along, and never a second one', async () => {
  const root = await temporaryDirectory()
  const { operations, fs: counted } = createFaultyFs(-1)
  const store = openStore(root, counted)
  await store.put(DIGEST, record('pending'))
  const { ino } = await fs.stat(join(root, 'receipts', OPEN))
  await store.put(DIGEST, record('submitted'))
  await store.put(DIGEST, record('confirmed'))
  expect((await fs.stat(join(root, 'receipts', DONE))).ino).toBe(ino)
  expect(operations).not.toContain('unlink')
})

test('a start reads what is unfinished alone, and few files at once', async () => {
  const root = await temporaryDirectory()
  const { reads, fileSystem } = watched()
  const store = openStore(root, fileSystem)
  const digests = Array.from({ length: 200 }, (_, index) => digestOf(index))
  const unfinished = digests.slice(0, 150)
  for (const digest of digests)
    await store.put(digest, record(unfinished.includes(digest) ? 'submitted' : 'confirmed', digest))
  const found = await store.unfinished()
  expect(found.map(({ receipt }) => receipt.digest).sort()).toEqual(unfinished.toSorted())
  expect(reads.all).toBe(unfinished.length)
  expect(reads.most).toBeLessThanOrEqual(64)
})

/** The real file system, and how many files were read, and at most at once. */
function watched() {
  const reads = { all: 0, now: 0, most: 0 }
  const readFile = async (path: string) => {
    reads.all++
    reads.most = Math.max(reads.most, ++reads.now)
    return fs.readFile(path, 'utf8').finally(() => reads.now--)
  }
  return {
    reads,
    fileSystem: new Proxy<FileSystem>(fs, {
      get: (target, name) => (name === 'readFile' ? readFile : Reflect.get(target, name)),
    }),
  }
}
