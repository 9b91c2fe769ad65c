import { expect, it } from 'vitest'
import { type HistoryOptions, ordersOf } from '../../../src/client/history.js'
import type { HistoryStore } from '../../../src/client/index.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { useChain } from '../../support/chain.js'
import { createMemoryDevice } from '../../support/memoryDevice.js'
import { clearForTrading } from '../clientSetting.js'
import { historyClient, kindsOf, queriedFrom, readAll } from './historySetting.js'
import { emptyOf, idOf, OTHER_SECRET, openRequest, publicKey, SECRET, USDC, write } from './written.js'

const chain = useChain(async (started) => {
  await clearForTrading(started)
  await started.send('alice', 'usdc', 'mint', started.addressOf('pool'), 100n * USDC)
})

const history = async (options: HistoryOptions, keys: readonly Hex[] = [SECRET]) =>
  readAll(await historyClient(chain(), keys), options)

/** A withdrawal of one USDC out of a portfolio of another size each. */
async function withdraw(number: number, secret: Hex = SECRET): Promise<void> {
  await openRequest(chain(), idOf(number))
  const portfolio = { ...emptyOf(secret), cash: 100n * USDC - BigInt(number) * USDC }
  const payout = { asset: 'USDC', amount: USDC }
  await write(chain(), { does: 'settle', orderId: idOf(number), portfolio, payout })
}

it('a kept history is the same as one that is read, and only later blocks are read again', async () => {
  const store = createMemoryDevice()
  await withdraw(1)
  const first = await history({ store })
  await withdraw(2)
  const all = await history({})
  let second = first
  const from = await queriedFrom(chain(), async () => {
    second = await history({ store })
  })
  expect(second).toEqual(all)
  expect(Math.min(...from)).toBeGreaterThan(first.at(-1)?.cursor.blockNumber ?? 0)
  expect(ordersOf(second)).toHaveLength(2)
  const [, , cursor] = all.map((entry) => entry.cursor)
  expect(await history({ store, after: cursor })).toEqual(all.slice(3))
  expect(await history({ store, fromBlock: all[2]?.cursor.blockNumber })).toEqual(
    all.filter((entry) => entry.cursor.blockNumber >= (all[2]?.cursor.blockNumber ?? 0)),
  )
})

it('a kept history shows nothing without the portfolio key, and is bound to its place', async () => {
  const store = createMemoryDevice()
  await withdraw(1)
  const all = await history({ store })
  const [[name, bytes] = []] = store.kept
  if (!name || !bytes) throw new Error('nothing was kept')
  const text = Buffer.from(bytes).toString('latin1')
  for (const word of ['withdrawn', 'cash', idOf(1).slice(2)]) expect(text).not.toContain(word)
  expect(bytes[0]).toBe(1)
  const from = await queriedFrom(chain(), () => history({ store }, [OTHER_SECRET]))
  expect(Math.min(...from)).toBe(0)
  const bob = await historyClient(chain(), [SECRET], { role: 'bob' })
  const foreign: HistoryStore = { get: async () => bytes, set: async () => {} }
  expect(await readAll(bob, { store: foreign })).toEqual([])
  // What is damaged is read again.
  store.kept.set(name, bytes.with(60, (bytes[60] ?? 0) ^ 1))
  expect(await history({ store })).toEqual(all)
})

it('a kept history is read again once a key is held that may open what did not', async () => {
  const store = createMemoryDevice()
  await withdraw(1, OTHER_SECRET)
  expect(kindsOf(await history({ store }))).toEqual(['opened', 'unreadable', 'cash-withdrawn'])
  const both = [SECRET, OTHER_SECRET]
  expect(kindsOf(await history({ store }, both))).toEqual(['opened', 'cash-withdrawn', 'adjusted'])
  expect(publicKey(SECRET)).not.toBe(publicKey(OTHER_SECRET))
})
