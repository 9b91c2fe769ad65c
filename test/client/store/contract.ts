// What every store of orders has to do. Each kind is held to it: in memory, of files, and in a browser.
import { expect } from 'vitest'
import type { KeptOrder, OrderStore } from '../../../src/client/index.js'
import { keptOrderOf } from './keptOrderOf.js'

const ORDERS = 12

const opening = (amount: bigint) => ({
  ...{ account: keptOrderOf(0).account, amount, deadline: 1_900_000_000, validBefore: 1_899_997_000 },
  sig: `0x${'02'.repeat(65)}` as const,
})
const idsIn = (kept: readonly KeptOrder[]) => kept.map(({ orderId }) => orderId).sort()

/** @param one and other two users of the same place, such as two tabs or two processes */
export async function expectOrderStore(one: OrderStore, other: OrderStore): Promise<void> {
  const [first, second] = [keptOrderOf(1), keptOrderOf(2)]
  expect(await one.find(first.orderId)).toBeNull()
  expect(await one.list()).toEqual([])
  await one.forget(first.orderId)

  await one.keep(first)
  await one.keep(second)
  expect(await other.find(first.orderId)).toEqual(first)
  expect(idsIn(await other.list())).toEqual(idsIn([first, second]))

  const signed = { ...first, opening: opening(2n ** 70n) }
  await other.keep(signed)
  expect(await one.find(first.orderId)).toEqual(signed)
  await one.forget(first.orderId)
  expect(idsIn(await other.list())).toEqual([second.orderId])
  await other.forget(second.orderId)

  const all = Array.from({ length: 2 * ORDERS }, (_, number) => keptOrderOf(number))
  await Promise.all(all.map((order, at) => (at % 2 === 0 ? one : other).keep(order)))
  expect(idsIn(await one.list())).toEqual(idsIn(all))
  // Each forgets what the other kept, while that one writes on.
  const [half, rest] = [all.slice(0, ORDERS), all.slice(ORDERS)]
  await Promise.all([
    ...half.map((order, at) => (at % 2 === 0 ? other : one).forget(order.orderId)),
    ...rest.map((order) => one.keep({ ...order, opening: opening(1n) })),
  ])
  expect(idsIn(await other.list())).toEqual(idsIn(rest))
  await Promise.all(rest.map(({ orderId }) => one.forget(orderId)))
  expect(await other.list()).toEqual([])
}
