// The stores that a test can have outside of a browser, and the text that all of them keep. test/browser/orderStore.test.ts has the third.
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as z from 'zod'
import {
  createFileOrderStore,
  createFileStore,
  createMemoryOrderStore,
  decodeOrder,
  encodeOrder,
} from '../../../src/client/store/index.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { readVectors } from '../../support/vectors.js'
import { expectOrderStore } from './contract.js'
import { keptOrderOf } from './keptOrderOf.js'

/** How often an order is written anew, and by how many it is read meanwhile. */
const [TIMES, READERS] = [15, 4]

const vectors = readVectors(
  'keptOrder',
  z.strictObject({
    orders: z.array(z.strictObject({ text: z.string(), commit: z.string() })),
    refused: z.record(z.string(), z.string()),
  }),
)

it.each(vectors.orders)(
  'a kept order is read and written as the vectors have it: $commit',
  ({ text, commit }) => {
    const order = decodeOrder(text)
    expect(order.commit).toBe(commit)
    expect(encodeOrder(order)).toBe(text)
  },
)

it.each(Object.entries(vectors.refused))('a kept order is refused by %s, without its text', (_why, text) => {
  const refused = { code: 'invalid-kept-order', message: expect.not.stringContaining('0x0102') }
  expect(() => decodeOrder(text)).toThrow(expect.objectContaining(refused))
})

it('the store in memory keeps orders as every store does', async () => {
  const store = createMemoryOrderStore()
  await expectOrderStore(store, store)
})

it('the store of files keeps orders as every store does, readable by its owner alone, and leaves nothing but the orders', async () => {
  const directory = join(await temporaryDirectory(), 'orders')
  await expectOrderStore(createFileOrderStore(directory), createFileOrderStore(directory))
  const order = keptOrderOf(1)
  await createFileOrderStore(directory).keep(order)
  expect(await readdir(directory)).toEqual([`${order.orderId}.json`])
  const file = join(directory, `${order.orderId}.json`)
  const modes = [await stat(directory), await stat(file)].map(({ mode }) => mode & 0o777)
  expect(modes).toEqual([0o700, 0o600])
  expect(await readFile(file, 'utf8')).toBe(encodeOrder(order))
})

it('the store of files lists what it can read beside a damaged order, and says of that one what it is', async () => {
  const directory = await temporaryDirectory()
  const store = createFileOrderStore(directory)
  const [damaged, whole] = [keptOrderOf(1), keptOrderOf(2)]
  await store.keep(whole)
  await mkdir(join(directory, 'archive.json'))
  await writeFile(join(directory, `${damaged.orderId}.json`), encodeOrder(damaged).slice(0, 100))
  expect(await store.list()).toEqual([whole])
  await expect(store.find(damaged.orderId)).rejects.toMatchObject({ code: 'invalid-kept-order' })
  await expect(store.forget('0x/../../other')).rejects.toMatchObject({ code: 'invalid-kept-order' })
})

it('the store of files keeps bytes under any name, and removes what a process that died has left', async () => {
  const directory = await temporaryDirectory()
  const [store, other] = [createFileStore(directory), createFileStore(directory)]
  const names = ['..', 'rulebook/1/0x01', 'rulebook-1-0x01', '../other', 'é'.repeat(20)]
  expect(await store.get('..')).toBeUndefined()
  for (const [at, name] of names.entries()) await store.set(name, new Uint8Array([at, 1]))
  await store.set('..', new Uint8Array([9]))
  const found = await Promise.all(names.map(async (name) => [...((await other.get(name)) ?? [])]))
  expect(found).toEqual([[9], [1, 1], [2, 1], [3, 1], [4, 1]])
  const [left, fresh] = ['left.part', 'fresh.part'].map((name) => join(directory, name))
  for (const part of [left, fresh]) await writeFile(part ?? '', '')
  await utimes(left ?? '', 0, 0)
  await store.set('..', new Uint8Array([1]))
  const kept = await readdir(directory)
  expect(kept).toHaveLength(names.length + 1)
  expect(kept).toContain('fresh.part')
})

it('the store of files has an order whole while it is written again', async () => {
  const directory = await temporaryDirectory()
  const [store, other] = [createFileOrderStore(directory), createFileOrderStore(directory)]
  const order = keptOrderOf(1)
  await store.keep(order)
  for (let time = 0; time < TIMES; time++) {
    let isWritten = false
    const read = async () => {
      while (!isWritten) expect(await other.find(order.orderId)).toEqual(order)
    }
    const write = store.keep(order).finally(() => {
      isWritten = true
    })
    await Promise.all([write, ...Array.from({ length: READERS }, read)])
  }
})
