// The stores that a test can have outside of a browser, and the text that all of them keep. test/browser/orderStore.test.ts has the third.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import {
  createFileOrderStore,
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

it('the store of files keeps orders as every store does', async () => {
  const directory = join(await temporaryDirectory(), 'orders')
  await expectOrderStore(createFileOrderStore(directory), createFileOrderStore(directory))
})

it('the store of files is readable by its owner alone, and leaves nothing but the orders', async () => {
  const directory = join(await temporaryDirectory(), 'orders')
  const order = keptOrderOf(1)
  await createFileOrderStore(directory).keep(order)
  expect(await readdir(directory)).toEqual([`${order.orderId}.json`])
  const modes = [directory, join(directory, `${order.orderId}.json`)].map(
    async (path) => (await stat(path)).mode,
  )
  expect((await Promise.all(modes)).map((mode) => mode & 0o777)).toEqual([0o700, 0o600])
  expect(await readFile(join(directory, `${order.orderId}.json`), 'utf8')).toBe(encodeOrder(order))
})

it('the store of files lists what it can read beside a damaged order, and says of that one what it is', async () => {
  const directory = await temporaryDirectory()
  const store = createFileOrderStore(directory)
  const [damaged, whole] = [keptOrderOf(1), keptOrderOf(2)]
  await store.keep(whole)
  await writeFile(join(directory, `${damaged.orderId}.json`), encodeOrder(damaged).slice(0, 100))
  expect(await store.list()).toEqual([whole])
  await expect(store.find(damaged.orderId)).rejects.toMatchObject({ code: 'invalid-kept-order' })
  await expect(store.forget('0x/../../other')).rejects.toMatchObject({ code: 'invalid-kept-order' })
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
